package datasets

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // sizes of pictures
	_ "image/jpeg"
	_ "image/png"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/webp"

	"winnow/internal/document"
)

// yolo is the YOLO format. Each line holds a class number and a box or a polygon, in shares of the image's sides; a
// box is given by its centre and its sides.
var yolo = annotations{form: "boxes of YOLO", parse: parseYOLO, ending: ".txt", folders: []string{"labels"}}

func parseYOLO(text []byte, about *subject) ([]photo, error) {
	var p photo
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		class, err := strconv.Atoi(fields[0])
		v := make([]float64, len(fields)-1)
		for i := range v {
			if err == nil {
				v[i], err = strconv.ParseFloat(fields[i+1], 64)
			}
		}
		if err != nil || class < 0 || len(v) < 4 {
			return nil, errOther
		}
		if p.width == 0 {
			if p.width, p.height, err = about.size(); err != nil {
				return nil, err
			}
		}
		m := labelMark{label: strconv.Itoa(class)}
		switch n := len(about.names); {
		case n > 0 && class >= n:
			m.odd = fmt.Errorf("found the class %d, expected 0 to %d (the named classes)", class, n-1)
		case n > 0:
			m.label = about.names[class]
		}
		low := [2]float64{v[0] - v[2]/2, v[1] - v[3]/2}
		high := [2]float64{v[0] + v[2]/2, v[1] + v[3]/2}
		if len(v) > 5 { // a polygon; a fifth number is a confidence
			low, high = computeBounds(v)
		}
		m.box = scaleBoxToShares(low, high, p.width, p.height)
		p.marks = append(p.marks, m)
	}
	return []photo{p}, nil
}

// computeBounds returns the corners of the bounding box of the points x, y, x, y, …
func computeBounds(v []float64) (low, high [2]float64) {
	low, high = [2]float64{v[0], v[1]}, [2]float64{v[0], v[1]}
	for i, c := range v[:len(v)&^1] {
		low[i%2], high[i%2] = min(low[i%2], c), max(high[i%2], c)
	}
	return low, high
}

// scaleBoxToShares converts a box given by its corners, in shares of the image's sides, to left, top, width and height
// in pixels.
func scaleBoxToShares(low, high [2]float64, width, height float64) []float64 {
	pixels := func(share, side float64) float64 { return math.Round(share*side*1e4) / 1e4 }
	return []float64{pixels(low[0], width), pixels(low[1], height), pixels(high[0]-low[0], width),
		pixels(high[1]-low[1], height)}
}

// Sides returns the displayed width and height of an image in pixels, read from its header.
func Sides(fsys fs.FS, picture string) (width, height float64, err error) {
	head, err := headOf(fsys, picture, 1<<20)
	var c image.Config
	var format string
	if err == nil {
		c, format, err = image.DecodeConfig(bytes.NewReader(head))
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: cannot read the size, which the boxes need: %w", picture, err)
	}
	if Orientation(format, head) > 4 {
		c.Width, c.Height = c.Height, c.Width
	}
	return float64(c.Width), float64(c.Height), nil
}

// classNames returns the names of YOLO's class numbers, or nil if no file lists them. It reads the key names of a
// YAML file at the top, or the lines of obj.names or classes.txt. Several such files must list the same classes.
func (t *listing) classNames() (names []string, err error) {
	file := ""
	for _, p := range t.others {
		base := strings.ToLower(path.Base(p))
		isYAML := strings.HasSuffix(base, ".yaml") || strings.HasSuffix(base, ".yml")
		if strings.Count(p, "/") > 2 || !isYAML && !strings.HasSuffix(base, ".names") && base != "classes.txt" {
			continue
		}
		text, err := readSmall(t.fsys, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		var list []string
		if isYAML {
			root, err := document.Parse(text)
			if err != nil {
				return nil, fmt.Errorf("%s%w", p, err)
			}
			list = yamlNames(root)
		} else {
			for line := range strings.Lines(strings.TrimRight(string(text), "\r\n\t ")) {
				list = append(list, strings.TrimSpace(line))
			}
		}
		if names != nil && list != nil && !slices.Equal(list, names) {
			return nil, fmt.Errorf("%s and %s list different classes: move away the one for other "+
				"images", file, p)
		}
		if list != nil {
			names, file = list, p
		}
	}
	return names, nil
}

// shortList joins the first labels of a list.
func shortList(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// yamlNames returns the class names of a data.yaml, given as a list or as a map from numbers.
func yamlNames(root ast.Node) (names []string) {
	for _, p := range listYAMLPairs(root) {
		if plainKey(p.Key.String()) != "names" {
			continue
		}
		if list, ok := p.Value.(*ast.SequenceNode); ok {
			for _, v := range list.Values {
				names = append(names, plainKey(v.String()))
			}
			return names
		}
		for _, v := range listYAMLPairs(p.Value) {
			n, err := strconv.Atoi(plainKey(v.Key.String()))
			if err != nil || n < 0 || n > 1<<16 {
				return nil
			}
			for len(names) <= n {
				names = append(names, strconv.Itoa(len(names)))
			}
			names[n] = plainKey(v.Value.String())
		}
	}
	return names
}

func listYAMLPairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func plainKey(text string) string { return strings.Trim(strings.TrimSpace(text), `"'`) }

// The folders of a Pascal VOC dataset.
const (
	vocImages = "JPEGImages"
	vocLists  = "ImageSets/Main"
)

// voc is the XML format of Pascal VOC: pixels are counted from 1, and the box includes its last pixel.
var voc = annotations{form: "boxes of Pascal VOC", parse: parseVOC, ending: ".xml",
	folders: []string{"annotations", "xmls"}}

func parseVOC(text []byte, _ *subject) ([]photo, error) {
	var root struct {
		XMLName xml.Name `xml:"annotation"`
		Size    struct {
			Width  float64 `xml:"width"`
			Height float64 `xml:"height"`
		} `xml:"size"`
		Objects []struct {
			Name string `xml:"name"`
			Box  struct {
				XMin string `xml:"xmin"`
				YMin string `xml:"ymin"`
				XMax string `xml:"xmax"`
				YMax string `xml:"ymax"`
			} `xml:"bndbox"`
		} `xml:"object"`
	}
	if err := xml.Unmarshal(text, &root); errors.As(err, new(xml.UnmarshalError)) {
		return nil, errOther
	} else if err != nil {
		return nil, err
	}
	p := photo{width: root.Size.Width, height: root.Size.Height}
	for _, o := range root.Objects {
		m := labelMark{label: strings.TrimSpace(o.Name)}
		var v [4]float64
		for k, text := range []string{o.Box.XMin, o.Box.YMin, o.Box.XMax, o.Box.YMax} {
			var err error
			if v[k], err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || m.label == "" {
				m.odd = errors.New("found no name or no bndbox of numbers, expected both")
			}
		}
		m.box = []float64{v[0] - 1, v[1] - 1, v[2] - v[0] + 1, v[3] - v[1] + 1}
		p.marks = append(p.marks, m)
	}
	return []photo{p}, nil
}

// readSplitLists assigns the splits of Pascal VOC's lists to the images, and leaves out images that are not listed.
func (t *listing) readSplitLists(b *boxFiles, at string) error {
	if b.annotations != &voc {
		return nil
	}
	splits, dir := map[string]string{}, path.Join(at, vocLists)
	for file, split := range map[string]string{"train.txt": Train, "val.txt": Validation, "test.txt": Test} {
		text, err := fs.ReadFile(t.fsys, path.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) == 0 {
				continue
			}
			if was, twice := splits[fields[0]]; twice && was != split {
				return fmt.Errorf("%s: image %.80q is in two splits, expected one", dir, fields[0])
			}
			splits[fields[0]] = split
		}
	}
	if len(splits) == 0 {
		return nil
	}
	kept := b.files[:0]
	for _, f := range b.files {
		f.split = splits[strings.TrimSuffix(path.Base(f.picture), path.Ext(f.picture))]
		if f.split == "" {
			b.left.addOne("not in the lists of "+vocLists, "images")
			continue
		}
		kept = append(kept, f)
	}
	b.files = kept
	return nil
}

// labelMe is the JSON format of LabelMe: each shape gives its bounding box.
var labelMe = annotations{form: "shapes of LabelMe", parse: parseLabelMe, ending: ".json",
	folders: []string{"annotations", "labels", "json"}}

// labelMeShape is one shape of a LabelMe file.
type labelMeShape struct {
	Label  string       `json:"label"`
	Type   string       `json:"shape_type"`
	Points [][2]float64 `json:"points"`
}

func parseLabelMe(text []byte, _ *subject) ([]photo, error) {
	var file struct {
		Width  float64         `json:"imageWidth"`
		Height float64         `json:"imageHeight"`
		Shapes *[]labelMeShape `json:"shapes"`
	}
	if err := json.Unmarshal(text, &file); err != nil && file.Shapes != nil {
		return nil, err
	} else if err != nil || file.Shapes == nil {
		return nil, errors.Join(errOther, err)
	}
	p := photo{width: file.Width, height: file.Height}
	for _, s := range *file.Shapes {
		m := labelMark{label: s.Label}
		switch {
		case s.Label == "" || len(s.Points) < 1 || len(s.Points) < 2 && s.Type != "point":
			m.odd = fmt.Errorf("found the label %q and %d points, expected a label and two points or more", s.Label,
				len(s.Points))
		case s.Type == "point":
			m.left = "given as points"
		default:
			m.box = s.computeShapeBox()
		}
		p.marks = append(p.marks, m)
	}
	return []photo{p}, nil
}

func (s *labelMeShape) computeShapeBox() []float64 {
	low, high := s.Points[0], s.Points[0]
	for _, p := range s.Points[1:] {
		for k := range 2 {
			low[k], high[k] = min(low[k], p[k]), max(high[k], p[k])
		}
	}
	if s.Type == "circle" { // given by its centre and a point on its edge
		c := s.Points[0]
		r := math.Hypot(s.Points[1][0]-c[0], s.Points[1][1]-c[1])
		low, high = [2]float64{c[0] - r, c[1] - r}, [2]float64{c[0] + r, c[1] + r}
	}
	return []float64{low[0], low[1], high[0] - low[0], high[1] - low[1]}
}
