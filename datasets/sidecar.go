package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// pictureFolders are the names of folders that hold pictures beside their annotations.
var pictureFolders = []string{"images", "image", "imgs", "img", "jpegimages", "pictures", "photos", "obj_train_data"}

func isPictureFolder(name string) bool { return slices.Contains(pictureFolders, strings.ToLower(name)) }

// box is a labelled rectangle of a picture: left, upper edge, width, height in pixels.
type box struct {
	label string
	at    []float64
}

// sidecar is a form in which each picture has a file of boxes, next to it or in a folder beside its folder.
type sidecar struct {
	form    string
	ending  string
	folders []string // that stand in place of the picture folder
	read    func(t *listing, text []byte, picture string, names []string) (boxes []box, width, height float64,
		err error)
}

var sidecars = []sidecar{
	{"boxes of YOLO", ".txt", []string{"labels"}, yolo},
	{"boxes of Pascal VOC", ".xml", []string{"Annotations", "annotations", "xmls"}, vocBoxes},
	{"shapes of LabelMe", ".json", []string{"annotations", "labels", "json"}, labelMe},
}

// file returns the file of a picture's boxes, "" if there is none.
func (s sidecar) file(picture string, is map[string]bool) string {
	stem := strings.TrimSuffix(picture, path.Ext(picture)) + s.ending
	if is[stem] {
		return stem
	}
	parts := strings.Split(stem, "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if !isPictureFolder(parts[i]) {
			continue
		}
		for _, folder := range s.folders {
			other := slices.Clone(parts)
			other[i] = folder
			if file := path.Join(other...); is[file] {
				return file
			}
		}
	}
	return ""
}

// classless reports whether no folder of a picture can be a class: all are splits or hold pictures by their names.
func (t *listing) classless() bool {
	known, beside := map[string]bool{}, map[string]int{} // folders with images, and how many of them a folder holds
	for _, p := range t.images {
		for dir := path.Dir(p); dir != "." && !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			beside[path.Dir(dir)]++
		}
	}
	for dir := range known {
		_, err := ParseSplit(path.Base(dir))
		if err != nil && !isPictureFolder(path.Base(dir)) && beside[path.Dir(dir)] > 1 {
			return false
		}
	}
	return true
}

// readSidecars reads the boxes of files that belong to a picture each, or returns nil if there are none.
func readSidecars(ctx context.Context, t *listing, name string, opts ReadOptions) (*Dataset, error) {
	if len(t.images) == 0 || !t.classless() {
		return nil, nil
	}
	is := make(map[string]bool, len(t.others))
	for _, p := range t.others {
		is[p] = true
	}
	for _, s := range sidecars {
		files := make([]string, len(t.images))
		first, found := -1, 0
		for i, p := range t.images {
			if files[i] = s.file(p, is); files[i] != "" {
				if first < 0 {
					first = i
				}
				found++
			}
		}
		if found == 0 {
			continue
		}
		names, err := t.classNames()
		if err != nil {
			return nil, err
		}
		text, err := readSmall(t.fsys, files[first])
		if err != nil {
			return nil, err
		}
		if _, _, _, err := s.read(t, text, t.images[first], names); errors.Is(err, errOther) {
			continue
		}
		return t.boxes(ctx, s, files, names, name, opts)
	}
	return nil, nil
}

// errOther says that a file is of another form.
var errOther = errors.New("is of another form")

// boxes reads the files of a form; "" is a picture without one.
func (t *listing) boxes(ctx context.Context, s sidecar, files, names []string, name string,
	opts ReadOptions) (*Dataset, error) {
	if err := opts.checkBoxes(); err != nil {
		return nil, err
	}
	var rows []row
	without, empty, left := 0, 0, map[string]int{}
	for i, p := range t.images {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if files[i] == "" {
			without++
			continue
		}
		text, err := readSmall(t.fsys, files[i])
		var list []box
		var width, height float64
		if err == nil {
			list, width, height, err = s.read(t, text, p, names)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Join(name, files[i]), err)
		}
		if len(list) == 0 {
			empty++
		}
		split := opts.Split
		for dir := range strings.SplitSeq(path.Dir(p), "/") {
			if s, err := ParseSplit(dir); err == nil {
				split = s
			}
		}
		for n, b := range list {
			c, why, err := opts.crop(b.at, width, height)
			id := strconv.Itoa(n + 1)
			if err == nil && why == "" {
				rows, err = appendRow(rows, row{path: c.of(p, id), label: b.label, split: split, extra: []string{id}},
					reading{ReadOptions: opts})
			}
			if err != nil {
				return nil, fmt.Errorf("%s: object %d: %w", path.Join(name, files[i]), n+1, err)
			}
			if why != "" {
				left[why]++
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: read as %s: found no box in the files of %d pictures, expected at least one",
			name, s.form,
			len(t.images))
	}
	d := build(rows, []string{"object"})
	d.Reading = t.reading(s.form, ".", d.Classes)
	d.Reading.drop(s.ending)
	for _, l := range []Left{{"without a file of boxes", "pictures", without}, {"without a box", "pictures", empty},
		{tooSmall, "boxes", left[tooSmall]}, {outside, "boxes", left[outside]}} {
		if l.Files > 0 {
			d.Reading.Left = append(d.Reading.Left, l)
		}
	}
	return d, nil
}

// drop takes files that were read from those that were left out.
func (r *Reading) drop(ending string) {
	r.Left = slices.DeleteFunc(r.Left, func(l Left) bool { return l.Of == ending })
	r.Empty = []string{}
}

// mostSidecar is the largest file of boxes in bytes.
const mostSidecar = 16 << 20

func readSmall(fsys fs.FS, file string) ([]byte, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSidecar+1))
	if err == nil && len(text) > mostSidecar {
		err = fmt.Errorf("found more than %d MB, expected the boxes of one picture", mostSidecar>>20)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// vocBoxes reads a file of Pascal VOC's form.
func vocBoxes(t *listing, text []byte, picture string, _ []string) (list []box, width, height float64, err error) {
	var v vocFile
	if err := xml.NewDecoder(bytes.NewReader(text)).Decode(&v); err != nil {
		return nil, 0, 0, errOther
	}
	for i, o := range v.Objects {
		if o.Box == nil || strings.TrimSpace(o.Name) == "" {
			return nil, 0, 0, fmt.Errorf("object %d: found no name or no bndbox, expected both", i+1)
		}
		list = append(list, box{strings.TrimSpace(o.Name), []float64{o.Box.Left - 1, o.Box.Top - 1,
			o.Box.Right - o.Box.Left + 1, o.Box.Bottom - o.Box.Top + 1}})
	}
	return list, v.Width, v.Height, nil
}

// labelMe reads a file of LabelMe: the box around each of its shapes.
func labelMe(t *listing, text []byte, picture string, _ []string) (list []box, width, height float64, err error) {
	var v struct {
		Shapes *[]struct {
			Label  string       `json:"label"`
			Type   string       `json:"shape_type"`
			Points [][2]float64 `json:"points"`
		} `json:"shapes"`
		Width  float64 `json:"imageWidth"`
		Height float64 `json:"imageHeight"`
	}
	if err := json.Unmarshal(text, &v); err != nil || v.Shapes == nil {
		return nil, 0, 0, errOther
	}
	for i, s := range *v.Shapes {
		if s.Label == "" || len(s.Points) < 2 {
			return nil, 0, 0, fmt.Errorf("shape %d: found the label %q and %d points, expected a label and two "+
				"points or more",
				i+1, s.Label, len(s.Points))
		}
		low, high := s.Points[0], s.Points[0]
		for _, p := range s.Points[1:] {
			for k := range 2 {
				low[k], high[k] = min(low[k], p[k]), max(high[k], p[k])
			}
		}
		if s.Type == "circle" { // its centre and a point of its edge
			c := s.Points[0]
			r := math.Hypot(s.Points[1][0]-c[0], s.Points[1][1]-c[1])
			low, high = [2]float64{c[0] - r, c[1] - r}, [2]float64{c[0] + r, c[1] + r}
		}
		list = append(list, box{s.Label, []float64{low[0], low[1], high[0] - low[0], high[1] - low[1]}})
	}
	return list, v.Width, v.Height, nil
}
