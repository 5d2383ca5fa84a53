package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
)

// The lists of a COCO file, the columns that keep the ids of its rows, and the name of a folder with such files.
const (
	cocoImages      = "images"
	cocoAnnotations = "annotations"
	cocoCategories  = "categories"

	annotationID = "annotation_id"
	imageID      = "image_id"

	cocoFolder = "boxes of COCO"
)

// mostCOCO limits the size of a COCO file in bytes.
const mostCOCO = 4 << 30

// ident is a JSON id: a number or a string.
type ident string

// UnmarshalJSON implements json.Unmarshaler.
func (i *ident) UnmarshalJSON(raw []byte) error {
	text, err := plainJSON(raw)
	if err != nil || len(raw) > 0 && strings.IndexByte("{[", raw[0]) >= 0 {
		return errIdent
	}
	*i = ident(text)
	return nil
}

var errIdent = errors.New("found an id that is neither a number nor a string")

type cocoImage struct {
	ID     ident   `json:"id"`
	File   string  `json:"file_name"`
	URL    string  `json:"coco_url"` // in LVIS, which has no file_name: http://HOST/train2017/1.jpg
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
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

type categoryList []cocoCategory

// nameCategories returns the name of each category id, and the id of each name. Duplicate names are an error.
func (list categoryList) nameCategories() (label map[ident]string, id map[string]ident, err error) {
	label, id = make(map[ident]string, len(list)), make(map[string]ident, len(list))
	for _, c := range list {
		name := trimLineEnd(c.Name)
		if id[name] != "" || label[c.ID] != "" || c.ID == "" || name == "" {
			return nil, nil, fmt.Errorf("%s: id %.40q, name %.80q: found twice or empty, expected unique ids and names",
				cocoCategories, c.ID, name)
		}
		label[c.ID], id[name] = name, c.ID
	}
	return label, id, nil
}

// readCOCO reads COCO's JSON. Each annotation becomes a row: the crop of its box or, without a box, the whole image,
// as in classification datasets. It leaves out crowds, small boxes and annotations that cannot be read.
func readCOCO(r io.Reader, name string, opts reading) (*Dataset, error) {
	b := &boxReader{opts: opts}
	if err := b.readCOCO(r); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	d, err := b.buildBoxes(name, forms[COCO], nil, annotationID, imageID)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	opts.noteReading(name, d.Reading, "read as COCO's annotations")
	return d, nil
}

// readCOCO adds the rows of a COCO file.
func (b *boxReader) readCOCO(r io.Reader) error {
	var file struct {
		Images      []cocoImage      `json:"images"`
		Annotations []cocoAnnotation `json:"annotations"`
		Categories  categoryList     `json:"categories"`
	}
	in := json.NewDecoder(io.LimitReader(r, mostCOCO))
	if err := in.Decode(&file); err != nil {
		return fmt.Errorf("expected an object with the lists images, annotations and categories: %w", err)
	}
	photos, at := make([]photo, len(file.Images)), make(map[ident]int, len(file.Images))
	for n, m := range file.Images {
		if u, err := url.Parse(m.URL); err == nil && m.File == "" {
			m.File = strings.TrimPrefix(u.Path, "/")
		}
		photos[n] = photo{file: m.File, width: m.Width, height: m.Height}
		if _, twice := at[m.ID]; twice || m.ID == "" {
			photos[n].odd = fmt.Errorf("images[%d]: id %.40q: found twice or empty, expected a unique id", n, m.ID)
		}
		at[m.ID] = n
	}
	labels, _, err := file.Categories.nameCategories()
	if err != nil {
		return err
	}
	boxed, shares := false, true
	for _, a := range file.Annotations {
		if a.Caption != nil && a.Category == "" || a.Segments != nil {
			return errors.New("found COCO captions or panoptic segmentation, expected COCO instances")
		}
		boxed = boxed || len(a.Box) > 0
		shares = shares && (len(a.Box) == 0 || slices.Max(a.Box) <= 1)
	}
	seen := make(map[ident]bool, len(file.Annotations))
	for n, a := range file.Annotations {
		m := labelMark{id: string(a.ID), row: n + 1, label: labels[a.Category],
			extra: []string{string(a.ID), string(a.Image)}}
		if m.box = a.Box; len(a.Box) == 0 {
			m.box = nil
		}
		i, known := at[a.Image]
		switch {
		case a.ID == "" || seen[a.ID]:
			m.odd = fmt.Errorf("id %.40q: found twice or empty, expected a unique id", a.ID)
		case !known:
			m.odd = fmt.Errorf("image_id %.40q is not among the %d images", a.Image, len(photos))
		case m.label == "":
			m.odd = fmt.Errorf("category_id %.40q is not among the %d categories", a.Category, len(file.Categories))
		case a.Crowd == "1" || a.Crowd == "true":
			m.left = "crowds"
		case boxed && m.box == nil:
			m.left = withoutBox
		}
		if seen[a.ID] = true; !known {
			b.left.addUnread("objects", b.namePart(fmt.Sprintf("annotations[%d]", n)), m.odd)
			continue
		}
		photos[i].shares = boxed && shares
		photos[i].marks = append(photos[i].marks, m)
	}
	for i := range photos {
		b.addPhoto(&photos[i])
	}
	return nil
}

// Reasons for leaving a box out.
const (
	tooSmall = "with a side below the minimum"
	outside  = "outside their picture"
)

// cropBox returns the crop of the box x, y, width, height with its margin, or the reason why the box is left out.
// width and height are the image's, or 0 if unknown.
func (o ReadOptions) cropBox(box []float64, width, height float64) (c Crop, left string, err error) {
	if len(box) != 4 {
		return c, "", fmt.Errorf("bbox holds %d numbers, expected x, y, width, height", len(box))
	}
	for _, v := range append(box[:4:4], width, height, o.CropMargin) {
		if math.IsNaN(v) || math.Abs(v) > mostPixels {
			return c, "", fmt.Errorf("bbox %v in an image of %v×%v pixels, expected numbers up to %d", box, width,
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

// isCOCO reports whether JSON that starts with head is an object with COCO's lists, or with COCO's info.
func isCOCO(head []byte) bool {
	keys := listJSONKeys(head)
	if at, _, _ := (ReadOptions{}).findColumns(slices.Collect(maps.Keys(keys))); at[pathColumn] >= 0 ||
		at[labelColumn] >= 0 {
		return false // head is a row of a manifest
	}
	for _, list := range []string{cocoImages, cocoAnnotations, cocoCategories} {
		if keys[list] == '[' {
			_, after, _ := bytes.Cut(head, []byte(`"`+list+`"`))
			after = bytes.TrimLeft(after, " \t\r\n:[")
			return len(after) == 0 || after[0] == '{' || after[0] == ']'
		}
	}
	return keys["info"] == '{' && len(head) >= headSize
}

// isFiftyOne reports whether JSON that starts with head is FiftyOne's labels.json or samples.json.
func isFiftyOne(head []byte) bool {
	keys := listJSONKeys(head)
	return keys["classes"] != 0 && keys["labels"] == '{' || keys["samples"] == '[' && keys["images"] == 0
}
