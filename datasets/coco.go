package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
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
	if err == nil && len(raw) > 0 && strings.IndexByte("{[", raw[0]) >= 0 {
		err = fmt.Errorf("found %.40q, expected a number or a text", raw)
	}
	*i = ident(text)
	return err
}

type cocoImage struct {
	ID            ident  `json:"id"`
	File          string `json:"file_name"`
	Width, Height float64
	missing       bool // no picture of the folder has this name
}

type cocoAnnotation struct {
	ID       ident      `json:"id"`
	Image    ident      `json:"image_id"`
	Category ident      `json:"category_id"`
	Box      []float64  `json:"bbox"` // x, y, width, height; if missing, the whole image
	Crowd    ident      `json:"iscrowd"`
	Caption  *string    `json:"caption"`
	Segments []struct{} `json:"segments_info"`
}

type cocoCategory struct {
	ID   ident  `json:"id"`
	Name string `json:"name"`
}

// names returns the labels of categories: their names or, if two are equal or one is empty, the ids of all.
func (list categoryList) names() (label map[ident]string, id map[string]ident, byID bool, err error) {
	label, id = make(map[ident]string, len(list)), make(map[string]ident, len(list))
	for _, c := range list {
		name := exact(c.Name)
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
// classification data sets, the image itself. Crowds and small boxes are left out.
func readCOCO(r io.Reader, name string, opts reading) (*Dataset, error) {
	rows, left, byID, err := opts.coco(r)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if opts.Note != nil {
		said := fmt.Sprintf("%s: read as COCO's annotations", name)
		crowds, small := left[Left{Reason: crowd, Of: "boxes"}], left[Left{Reason: tooSmall, Of: "boxes"}]
		if crowds+small > 0 {
			said += fmt.Sprintf("; left out %d crowds and %d boxes with a side below %d pixels", crowds, small,
				max(opts.MinBox, 1))
		}
		if n := left[Left{Reason: outside, Of: "boxes"}]; n > 0 {
			said += fmt.Sprintf("; left out %d boxes outside their picture", n)
		}
		if byID {
			said += "; " + labelsAreIDs
		}
		opts.Note("%s", said)
	}
	return build(rows, []string{annotationID, imageID}), nil
}

const labelsAreIDs = "labels are ids, because category names are missing or not unique"

// notBoxes says that a file of COCO's form holds something else.
type notBoxes struct{ what string }

func (n *notBoxes) Error() string { return "is " + n.what }

// coco returns the rows of COCO's JSON, counts what is left out, and reports whether the labels are ids.
func (opts reading) coco(r io.Reader) (rows []row, left map[Left]int, byID bool, err error) {
	images, annotations, categories := map[ident]cocoImage{}, []cocoAnnotation(nil), categoryList(nil)
	in := json.NewDecoder(r)
	var other json.RawMessage
	err = jsontext.Each(in, cocoLists, func(list string, _ int) (err error) {
		switch list {
		case cocoImages:
			var m cocoImage
			if err = in.Decode(&m); err == nil && (m.ID == "" || images[m.ID].ID != "") {
				err = fmt.Errorf("id %.40q: found twice or empty, expected a unique id", m.ID)
			}
			if err == nil && opts.find != nil {
				var found bool
				m.File, found = opts.find(m.File)
				m.missing = !found
			} else if err == nil {
				m.File, err = cleanPath(m.File, opts.StripPrefix)
			}
			images[m.ID] = m
		case cocoAnnotations:
			var a cocoAnnotation
			if err = in.Decode(&a); a.Caption != nil && a.Category == "" {
				return &notBoxes{captions}
			} else if a.Segments != nil {
				return &notBoxes{panoptic}
			}
			annotations = append(annotations, a)
		case cocoCategories:
			var c cocoCategory
			err = in.Decode(&c)
			categories = append(categories, c)
		default:
			err = in.Decode(&other)
		}
		return err
	})
	if err != nil {
		return nil, nil, false, err
	}
	labels, _, byID, err := categories.names()
	if err != nil {
		return nil, nil, false, err
	}
	seen := make(map[ident]bool, len(annotations))
	rows, left = make([]row, 0, len(annotations)), map[Left]int{}
	opts.StripPrefix = "" // it has been stripped
	for i, a := range annotations {
		m, known := images[a.Image]
		label, named := labels[a.Category]
		switch {
		case a.ID == "" || seen[a.ID]:
			err = fmt.Errorf("id %.40q: found twice or empty, expected a unique id", a.ID)
		case !known:
			err = fmt.Errorf("image_id %.40q is not among the %d images", a.Image, len(images))
		case !named:
			err = fmt.Errorf("category_id %.40q is not among the %d categories", a.Category, len(categories))
		case a.Crowd == "1" || a.Crowd == "true":
			left[Left{Reason: crowd, Of: "boxes"}]++
			continue
		}
		seen[a.ID] = true
		if err == nil && m.missing {
			left[Left{Reason: missingPicture, Of: "boxes"}]++
			continue
		}
		path := m.File
		if err == nil && len(a.Box) > 0 {
			var c Crop
			var why string
			if c, why, err = opts.crop(a.Box, m.Width, m.Height); err == nil && why != "" {
				left[Left{Reason: why, Of: "boxes"}]++
				continue
			}
			path = c.of(path, string(a.ID))
		}
		if err == nil {
			rows, err = appendRow(rows, row{path: path, label: label, extra: []string{string(a.ID), string(a.Image)}},
				opts)
		}
		if err != nil {
			return nil, nil, false, fmt.Errorf("%s[%d]: %w", cocoAnnotations, i, err)
		}
	}
	return rows, left, byID, nil
}

// Why a box is left out.
const (
	tooSmall = "with a side below the least"
	outside  = "outside their picture"
	crowd    = "crowds"
)

// crop returns the pixels that a box x, y, width, height touches, with a margin, or why the box is left out. width
// and height are the image's, or 0 if unknown.
func (o ReadOptions) crop(box []float64, width, height float64) (c Crop, left string, err error) {
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
				if find(append(names[:len(names):len(names)], ownNames[:]...), key) >= 0 {
					return false // a line of a manifest
				}
			}
		}
	}
}
