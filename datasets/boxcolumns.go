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

// boxTable is the form of a table whose columns hold a box: the image of each row is the crop.
const boxTable = "boxes of a table"

// boxKind is the meaning of the four numbers of a box.
type boxKind int

const (
	noBox     boxKind = iota
	cornerBox         // left, top, right and bottom edge
	sideBox           // left and top edge, width, height
	centreBox         // centre, width, height
)

// boxHeaders lists the accepted names of a box's columns, in lower case and without separators. The prefixes bbox,
// box and roi are already removed.
var boxHeaders = []struct {
	kind  boxKind
	names []string
}{
	{centreBox, []string{"xcenter ycenter", "centerx centery", "xcentre ycentre", "cx cy", "xc yc"}},
	{cornerBox, []string{"xmin ymin xmax ymax", "minx miny maxx maxy", "xtl ytl xbr ybr", "left top right bottom",
		"x0 y0 x1 y1", "x1 y1 x2 y2"}},
	{sideBox, []string{"xmin ymin", "minx miny", "xtl ytl", "left top", "x0 y0", "x1 y1", "x y"}},
}

// sizeNames lists the column names of a box's width and height.
var sizeNames = []string{"w h", "width height"}

// boxColumns holds the box columns of a table.
type boxColumns struct {
	opts   reading
	at     [4]int
	kind   boxKind
	rows   int   // rows read so far
	shares *bool // whether boxes are shares of the image's sides; nil: not known yet
	dir    fs.FS // the folder that the paths start from; nil: unknown
	sizes  map[string][2]float64
	left   leftList
}

// plainColumn returns the letters and digits of a column name in lower case. boxed reports whether the name starts
// with a box prefix, such as bbox; plain is then without this prefix.
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

// findBoxColumns returns the box columns of a header, or nil if there are none. It ignores the given columns, which
// have another purpose. If names look like a box but match no known layout, it returns an error.
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
			"h: rename them, or remove them to read whole images", strings.Join(header, ","))
	}
	if o.unlabelled != nil {
		return nil, fmt.Errorf("has boxes in the columns %.200q: pass this file itself as the source to read them",
			strings.Join(header, ","))
	}
	if root := cmp.Or(o.Root, o.from.Parent()); !root.IsZero() && !o.from.IsPipe() && !root.IsRemote() &&
		!root.IsZip() {
		b.dir, _ = root.Dir(context.Background()) // an error is reported when the images are opened
	}
	return b, nil
}

// findPair returns the columns of the first list of names that are all present, or nil if no list is complete.
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

// takeRecord replaces the path of a row by the crop of its box. If there is no usable box, it counts the row and
// returns false.
func (b *boxColumns) takeRecord(r *row, record []string) bool {
	b.rows++
	if _, _, cropped := CutCrop(r.path); cropped {
		return true // the path is already a crop
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

// cropRow replaces the path of a row by the crop of the box v, or returns the reason why the row is left out.
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
		size[0], size[1], _ = Sides(b.dir, picture) // an error is reported when the image is read
		b.sizes[picture] = size
	}
	r.path, why, err = b.opts.cropMark(v[:], *b.shares, r.path, strconv.Itoa(b.rows), size[0], size[1])
	return why, err
}

// Crop is a rectangle of an image in pixels, measured from the upper left corner after applying the EXIF rotation.
type Crop struct{ X, Y, W, H int }

// cropMark separates a file from its crop, as in W3C's media fragments. winnow writes colons where the standard has
// commas, so that paths need no quotes in CSV. It reads both.
const cropMark = "#xywh="

// mostMargin is the largest margin of a crop, as a multiple of the box's side.
const mostMargin = 10

// mostPixels is the longest side of a crop, in pixels.
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

// String returns the suffix that marks the crop in a path: #xywh=X:Y:W:H.
func (c Crop) String() string {
	return fmt.Sprintf("%s%d:%d:%d:%d", cropMark, c.X, c.Y, c.W, c.H)
}

// cropPath returns the path of the crop of a file; id distinguishes crops of the same rectangle.
func (c Crop) cropPath(file, id string) string {
	return file + c.String() + "&id=" + url.QueryEscape(id)
}

// checkBoxes rejects a negative or too large margin, and a negative minimum side.
func (o ReadOptions) checkBoxes() error {
	if o.CropMargin >= 0 && o.CropMargin <= mostMargin && o.MinBox >= 0 {
		return nil
	}
	return fmt.Errorf("found a crop margin of %v and a minimum side of %d pixels, expected a margin from 0 to %d of a "+
		"box's side and a minimum of 0 pixels or more", o.CropMargin, o.MinBox, mostMargin)
}
