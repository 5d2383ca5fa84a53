package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// boxTable is the form of a table whose columns hold a box: each row's image is the crop.
const boxTable = "boxes of a table"

// boxKind is what the four numbers of a box are.
type boxKind int

const (
	noBox     boxKind = iota
	cornerBox         // left, upper, right and lower edge
	sideBox           // left and upper edge, width, height
	centreBox         // centre, width, height
)

// boxHeaders are the accepted names of a box's columns, in lower case without separators and without bbox, box or roi
// before them.
var boxHeaders = []struct {
	kind  boxKind
	names []string
}{
	{centreBox, []string{"xcenter ycenter", "centerx centery", "xcentre ycentre", "cx cy", "xc yc"}},
	{cornerBox, []string{"xmin ymin xmax ymax", "minx miny maxx maxy", "xtl ytl xbr ybr", "left top right bottom",
		"x0 y0 x1 y1", "x1 y1 x2 y2"}},
	{sideBox, []string{"xmin ymin", "minx miny", "xtl ytl", "left top", "x0 y0", "x1 y1", "x y"}},
}

// sizeNames are the names of a box's sides.
var sizeNames = []string{"w h", "width height"}

// boxColumns are the columns of a table's boxes.
type boxColumns struct {
	opts   reading
	at     [4]int
	kind   boxKind
	rows   int   // read
	shares *bool // whether boxes are shares of the picture's sides; nil: not known yet
	dir    fs.FS // that the paths begin in; nil: unknown
	sizes  map[string][2]float64
	left   leftList
}

// plainColumn returns the letters and digits of a column's name in lower case, and whether it begins as that of a box,
// without that beginning.
func plainColumn(name string) (plain string, boxed bool) {
	plain = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	for _, prefix := range []string{"boundingbox", "bndbox", "bbox", "box", "bb", "roi", "rect"} {
		if rest, ok := strings.CutPrefix(plain, prefix); ok {
			return rest, true
		}
	}
	return plain, false
}

// findBoxColumns returns the columns of boxes in a header, nil if there are none next to those that have a meaning.
// Columns that are named as a box and are none that is known are an error.
func (o reading) findBoxColumns(header []string, at places) (*boxColumns, error) {
	columns, odd := map[string]int{}, false
	for i, name := range header {
		if slices.Contains(at[:], i) {
			continue
		}
		plain, boxed := plainColumn(name)
		if _, twice := columns[plain]; !twice || boxed {
			columns[plain] = i
		}
		odd = odd || boxed && !strings.EqualFold(name, "box") || plain == "xywh" || plain == "xyxy" || plain == "x3"
	}
	b := &boxColumns{opts: o, sizes: map[string][2]float64{}}
	size := findPair(columns, sizeNames...)
	for _, h := range boxHeaders {
		for _, names := range h.names {
			list := findPair(columns, names)
			if h.kind != cornerBox && list != nil {
				list = append(list, size...)
			}
			if _, polygon := columns["x3"]; len(list) == 4 && b.kind == noBox && !polygon {
				b.kind = h.kind
				copy(b.at[:], list)
			}
		}
	}
	if b.kind == noBox && !odd {
		return nil, nil
	}
	if b.kind == noBox {
		return nil, fmt.Errorf("some columns of %.200q look like a box, expected xmin, ymin, xmax, ymax or x, y, w, "+
			"h: write a box as these, or remove the columns to read whole images", strings.Join(header, ","))
	}
	if o.unlabelled != nil {
		return nil, fmt.Errorf("holds boxes, in the columns %.200q: give this file itself as the source to read them",
			strings.Join(header, ","))
	}
	if root := cmp.Or(o.Root, o.from.Parent()); !root.IsZero() && !o.from.IsPipe() && !root.IsRemote() &&
		!root.IsZip() {
		b.dir, _ = root.Dir(context.Background()) // whoever opens the pictures reports it
	}
	return b, nil
}

// findPair returns the columns of the first of several lists of names whose columns are all there, nil if there is
// none.
func findPair(columns map[string]int, lists ...string) (at []int) {
	for _, names := range lists {
		at = nil
		for name := range strings.FieldsSeq(names) {
			if i, ok := columns[name]; ok {
				at = append(at, i)
			}
		}
		if len(at) == len(strings.Fields(names)) {
			return at
		}
	}
	return nil
}

// takeRecord makes the row of a record the crop of its box, and reports whether it is one; what is not is counted.
func (b *boxColumns) takeRecord(r *row, record []string) bool {
	b.rows++
	if _, _, cropped := CutCrop(r.path); cropped {
		return true // is one already
	}
	var v [4]float64
	var err error
	empty, why := 0, ""
	for i, at := range b.at {
		text := strings.TrimSpace(record[at])
		if text == "" {
			empty++
		} else if v[i], err = strconv.ParseFloat(text, 64); err != nil {
			break
		}
	}
	switch {
	case empty == 4:
		why = withoutBox
	case err == nil && empty > 0:
		err = fmt.Errorf("found %d empty values, expected four numbers", empty)
	case err == nil:
		why, err = b.cropRow(r, v)
	}
	if err != nil {
		b.left.addUnread("rows", fmt.Sprintf("row %d", b.rows), fmt.Errorf("box: %w", err))
	} else if why != "" {
		b.left.addOne(why, "rows")
	}
	return err == nil && why == ""
}

// cropRow makes a row the crop of a box with these numbers, or returns why it is left out.
func (b *boxColumns) cropRow(r *row, v [4]float64) (why string, err error) {
	if b.shares == nil {
		shares := max(v[0], v[1], v[2], v[3]) <= 1
		b.shares = &shares
	}
	picture, err := cleanPath(r.path, b.opts.StripPrefix)
	if err != nil {
		return "", err
	}
	switch b.kind {
	case centreBox:
		v[0], v[1] = v[0]-v[2]/2, v[1]-v[3]/2
	case cornerBox:
		v[2], v[3] = v[2]-v[0], v[3]-v[1]
	}
	size, known := b.sizes[picture]
	if !known && b.dir != nil {
		size[0], size[1], _ = Sides(b.dir, picture) // reading the picture reports it
		b.sizes[picture] = size
	}
	r.path, why, err = b.opts.cropMark(v[:], *b.shares, r.path, strconv.Itoa(b.rows), size[0], size[1])
	return why, err
}

// Crop is a rectangle of an image in pixels, from the upper left corner, after the rotation that EXIF asks for.
type Crop struct{ X, Y, W, H int }

// cropMark separates a file from its crop, as in W3C's media fragments. Their commas are written as colons, so that
// paths need no quotes in CSV; both are read.
const cropMark = "#xywh="

// mostMargin is the largest margin of a crop, in sides of its box.
const mostMargin = 10

// mostPixels is the longest side that a crop may have.
const mostPixels = 1 << 24

// CutCrop splits the path of a crop: FILE#xywh=X:Y:W:H, optionally followed by &id=NAME, which distinguishes crops
// of the same rectangle. For any other path, cropped is false and file is the path.
func CutCrop(path string) (file string, c Crop, cropped bool) {
	at := strings.LastIndex(path, cropMark)
	if at < 1 {
		return path, c, false
	}
	numbers, id, named := strings.Cut(path[at+len(cropMark):], "&id=")
	fields := strings.Split(strings.ReplaceAll(numbers, ",", ":"), ":")
	if len(fields) != 4 || named && (id == "" || strings.ContainsAny(id, "&#/")) {
		return path, Crop{}, false
	}
	for i, to := range []*int{&c.X, &c.Y, &c.W, &c.H} {
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < 0 || n > mostPixels || strconv.Itoa(n) != fields[i] {
			return path, Crop{}, false
		}
		*to = n
	}
	if c.W == 0 || c.H == 0 {
		return path, Crop{}, false
	}
	return path[:at], c, true
}

// String returns the part of a path that follows the file.
func (c Crop) String() string {
	return fmt.Sprintf("%s%d:%d:%d:%d", cropMark, c.X, c.Y, c.W, c.H)
}

// cropPath returns the path of a crop of a file; id distinguishes equal crops.
func (c Crop) cropPath(file, id string) string {
	return file + c.String() + "&id=" + url.QueryEscape(id)
}

// checkBoxes rejects settings with which no crop can be made.
func (o ReadOptions) checkBoxes() error {
	if o.CropMargin >= 0 && o.CropMargin <= mostMargin && o.MinBox >= 0 {
		return nil
	}
	return fmt.Errorf("found a margin of %v and a least side of %d pixels, expected a share from 0 to %d of a "+
		"box's side, and 0 pixels or more", o.CropMargin, o.MinBox, mostMargin)
}
