package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"

	"winnow/internal/jsontext"
)

// The lists of a COCO file, and the columns that keep the ids of its rows.
const (
	cocoImages      = "images"
	cocoAnnotations = "annotations"
	cocoCategories  = "categories"

	annotationID = "annotation_id"
	imageID      = "image_id"
)

// ident is a JSON id, a number or a string.
type ident string

// UnmarshalJSON implements json.Unmarshaler.
func (i *ident) UnmarshalJSON(raw []byte) error {
	text, err := jsontext.Plain(raw)
	if err != nil || len(raw) > 0 && strings.IndexByte("{[", raw[0]) >= 0 {
		return &notIdent{fmt.Sprintf("%.40q", raw)}
	}
	*i = ident(text)
	return nil
}

// notIdent says that a value is no id.
type notIdent struct{ found string }

func (n *notIdent) Error() string { return "found " + n.found + ", expected a number or a text" }

// isOdd reports whether an error of reading a JSON value is about its meaning: what follows it can be read.
func isOdd(err error) bool {
	kind, id := (*json.UnmarshalTypeError)(nil), (*notIdent)(nil)
	return errors.As(err, &kind) || errors.As(err, &id)
}

type cocoImage struct {
	ID      ident   `json:"id"`
	File    string  `json:"file_name"`
	URL     string  `json:"coco_url"` // of LVIS, which has no file_name: http://HOST/train2017/1.jpg
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
	missing bool    // no picture of the folder has this name
	odd     error   // why it cannot be read; nil if it can
}

type cocoAnnotation struct {
	ID       ident      `json:"id"`
	Image    ident      `json:"image_id"`
	Category ident      `json:"category_id"`
	Box      []float64  `json:"bbox"` // x, y, width, height; if missing, the whole image
	Crowd    ident      `json:"iscrowd"`
	Caption  *string    `json:"caption"`
	Segments []struct{} `json:"segments_info"`
	odd      error      // why it cannot be read; nil if it can
}

type cocoCategory struct {
	ID   ident  `json:"id"`
	Name string `json:"name"`
}

// nameCategories returns the labels of categories: their names or, if two are equal or one is empty, the ids of all.
func (list categoryList) nameCategories() (label map[ident]string, id map[string]ident, byID bool, err error) {
	label, id = make(map[ident]string, len(list)), make(map[string]ident, len(list))
	for _, c := range list {
		name := trimLineEnd(c.Name)
		if _, twice := id[name]; twice || name == "" {
			byID = true
		}
		if _, twice := label[c.ID]; twice || c.ID == "" {
			return nil, nil, false, fmt.Errorf("%s: id %.40q: found twice or empty, expected a unique id",
				cocoCategories, c.ID)
		}
		label[c.ID], id[name] = name, c.ID
	}
	if byID {
		clear(id)
		for _, c := range list {
			label[c.ID], id[string(c.ID)] = string(c.ID), c.ID
		}
	}
	return label, id, byID, nil
}

type categoryList []cocoCategory

// cocoLists describes the expected form of COCO's JSON.
const cocoLists = "an object with the lists images, annotations and categories"

// readCOCO reads COCO's JSON. Each annotation becomes a row: a box as a crop of its image or, without a box, as in
// classification data sets, the image itself. Crowds and small boxes are left out, and annotations that cannot be read.
func readCOCO(r io.Reader, name string, opts reading) (*Dataset, error) {
	read, err := opts.readCOCORows(r)
	if err == nil {
		err = read.explainNothingRead()
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	d := buildDataset(read.rows, []string{annotationID, imageID})
	d.Reading = &Reading{Form: forms[COCO], Left: countReasons(read.left), Empty: []string{}, Unread: read.unread,
		Alike: lookAlikes(d.Classes)}
	said := "read as COCO's annotations"
	if read.byID {
		said += "; " + labelsAreIDs
	}
	opts.noteLines(name, append([]string{said}, d.Reading.Lines()...))
	return d, nil
}

const (
	labelsAreIDs     = "labels are ids, because category names are missing or not unique"
	labelsAreNumbers = "labels are the numbers of classes, because their names are missing or not unique"
)

// notBoxes says that a file of COCO's form holds something else.
type notBoxes struct{ what string }

func (n *notBoxes) Error() string { return "is " + n.what }

// cocoRows is what has been read of COCO's JSON.
type cocoRows struct {
	rows   []row
	left   map[Left]int
	unread []Unread
	byID   bool // labels are ids
}

// explainNothingRead is the error for a file of which nothing can be read, nil for others.
func (c *cocoRows) explainNothingRead() error {
	if len(c.rows) > 0 || len(c.unread) == 0 {
		return nil
	}
	return fmt.Errorf("found no annotation, expected at least one; %s", unreadLine(c.unread[:1], len(c.unread)))
}

// leaveOutElement leaves out an element of a list.
func (c *cocoRows) leaveOutElement(list string, n int, why error) {
	c.left[Left{Reason: notReadable, Of: list}]++
	c.unread = append(c.unread, unreadFor("", fmt.Sprintf("%s[%d]", list, n), why))
}

// readCOCORows returns the rows of COCO's JSON, and what is left out.
func (opts reading) readCOCORows(r io.Reader) (*cocoRows, error) {
	images, annotations, categories := map[ident]cocoImage{}, []cocoAnnotation(nil), categoryList(nil)
	in, read := json.NewDecoder(r), &cocoRows{left: map[Left]int{}}
	var other json.RawMessage
	err := jsontext.Each(in, cocoLists, func(list string, n int) error {
		switch list {
		case cocoImages:
			var m cocoImage
			err := in.Decode(&m)
			if err != nil && !isOdd(err) {
				return err
			}
			if u, err := url.Parse(m.URL); err == nil && m.File == "" {
				m.File = strings.TrimPrefix(u.Path, "/")
			}
			_, twice := images[m.ID]
			switch {
			case err != nil:
			case m.ID == "" || twice:
				err = fmt.Errorf("id %.40q: found twice or empty, expected a unique id", m.ID)
			case opts.find != nil:
				file, found := opts.find(m.File)
				m.File, m.missing = file, !found
			default:
				m.File, err = cleanPath(m.File, opts.StripPrefix)
			}
			if m.odd = err; err != nil {
				read.leaveOutElement(list, n, err)
			}
			images[m.ID] = m
		case cocoAnnotations:
			var a cocoAnnotation
			if a.odd = in.Decode(&a); a.odd != nil && !isOdd(a.odd) {
				return a.odd
			}
			if a.Caption != nil && a.Category == "" {
				return &notBoxes{captions}
			} else if a.Segments != nil {
				return &notBoxes{panoptic}
			}
			annotations = append(annotations, a)
		case cocoCategories:
			var c cocoCategory
			err := in.Decode(&c)
			categories = append(categories, c)
			return err
		default:
			return in.Decode(&other)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var labels map[ident]string
	if labels, _, read.byID, err = categories.nameCategories(); err != nil {
		return nil, err
	}
	boxed := slices.ContainsFunc(annotations, func(a cocoAnnotation) bool { return len(a.Box) > 0 })
	seen, labelsOf := make(map[ident]bool, len(annotations)), map[ident]map[ident]bool{}
	inShares := boxed
	for _, a := range annotations {
		if labelsOf[a.Image] == nil {
			labelsOf[a.Image] = map[ident]bool{}
		}
		labelsOf[a.Image][a.Category] = true
		inShares = inShares && (len(a.Box) == 0 || slices.Max(a.Box) <= 1)
	}
	read.rows = make([]row, 0, len(annotations))
	opts.StripPrefix = "" // it has been stripped
	for i, a := range annotations {
		m, known := images[a.Image]
		label, named := labels[a.Category]
		err := a.odd
		switch {
		case err != nil:
		case a.ID == "" || seen[a.ID]:
			err = fmt.Errorf("id %.40q: found twice or empty, expected a unique id", a.ID)
		case m.odd != nil:
		case !known:
			err = fmt.Errorf("image_id %.40q is not among the %d images", a.Image, len(images))
		case !named:
			err = fmt.Errorf("category_id %.40q is not among the %d categories", a.Category, len(categories))
		}
		seen[a.ID] = true
		why, r := "", row{path: m.File, label: label, extra: []string{string(a.ID), string(a.Image)}}
		switch {
		case err != nil:
		case m.odd != nil:
			why = "of images that are not readable"
		case a.Crowd == "1" || a.Crowd == "true":
			why = crowd
		case m.missing:
			why = missingPicture
		case len(a.Box) == 0 && boxed:
			why = withoutBox
		case !boxed && len(labelsOf[a.Image]) > 1:
			why = severalLabels
		case boxed && inShares && len(a.Box) == 4 && (m.Width <= 0 || m.Height <= 0):
			err = errors.New("bbox: its numbers are shares of the picture's sides, which images do not give")
		case boxed:
			if inShares && len(a.Box) == 4 {
				x, y := a.Box[0], a.Box[1]
				a.Box = scaleBoxToShares([2]float64{x, y}, [2]float64{x + a.Box[2], y + a.Box[3]}, m.Width, m.Height)
			}
			var c Crop
			c, why, err = opts.cropBox(a.Box, m.Width, m.Height)
			r.path = c.cropPath(m.File, string(a.ID))
		}
		if err == nil && why == "" {
			read.rows, err = appendRow(read.rows, r, opts)
		}
		if err != nil {
			read.leaveOutElement(cocoAnnotations, i, err)
		} else if why != "" {
			of := "boxes"
			if why == withoutBox || why == severalLabels {
				of = "annotations"
			}
			read.left[Left{Reason: why, Of: of}]++
		}
	}
	return read, nil
}

// Why a box is left out.
const (
	tooSmall = "with a side below the least"
	outside  = "outside their picture"
	crowd    = "crowds"
)

// cropBox returns the pixels that a box x, y, width, height touches, with a margin, or why the box is left out. width
// and height are the image's, or 0 if unknown.
func (o ReadOptions) cropBox(box []float64, width, height float64) (c Crop, left string, err error) {
	if len(box) != 4 {
		return c, "", fmt.Errorf("bbox holds %d numbers, expected x, y, width, height", len(box))
	}
	for _, v := range append(box, width, height, o.CropMargin) {
		if math.IsNaN(v) || math.Abs(v) > mostPixels {
			return c, "", fmt.Errorf("bbox %v in a picture of %v×%v pixels, expected numbers up to %d", box, width,
				height, mostPixels)
		}
	}
	if width <= 0 || height <= 0 {
		width, height = mostPixels, mostPixels
	}
	x, y, w, h := box[0], box[1], box[2], box[3]
	if least := float64(max(o.MinBox, 1)); w < least || h < least {
		return c, tooSmall, nil
	}
	span := func(from, size, end float64) (int, int) {
		low := max(math.Floor(from-o.CropMargin*size), 0)
		high := min(math.Ceil(from+size+o.CropMargin*size), end)
		return int(low), int(high - low)
	}
	c.X, c.W = span(x, w, width)
	c.Y, c.H = span(y, h, height)
	if c.W < 1 || c.H < 1 {
		return c, outside, nil
	}
	return c, "", nil
}

// isCOCO reports whether JSON with this beginning is an object with COCO's lists of objects.
func isCOCO(head []byte) bool {
	in := json.NewDecoder(bytes.NewReader(head))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	listed := false
	for {
		t, err := in.Token()
		if err != nil {
			return false
		}
		key, more := t.(string)
		if !more {
			return listed // all lists are empty
		}
		var value, first json.Token
		if value, err = in.Token(); err != nil {
			return false
		}
		switch {
		case value == json.Delim('['):
			if key != cocoImages && key != cocoAnnotations && key != cocoCategories && key != "licenses" &&
				key != "videos" {
				return false
			}
			if first, err = in.Token(); err != nil || first != json.Delim(']') {
				return first == json.Delim('{')
			}
			listed = true
		case value == json.Delim('{'):
			if key != "info" {
				return false
			}
			for depth := 1; depth > 0; {
				if first, err = in.Token(); err != nil {
					return true // too long for a line of a manifest
				}
				if d, ok := first.(json.Delim); ok {
					depth += map[json.Delim]int{'{': 1, '[': 1, '}': -1, ']': -1}[d]
				}
			}
		default:
			for _, names := range usualNames {
				if findColumn(append(names[:len(names):len(names)], ownNames[:]...), key) >= 0 {
					return false // a line of a manifest
				}
			}
		}
	}
}
