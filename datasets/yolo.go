package datasets

import (
	"bytes"
	"cmp"
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
	"winnow/internal/exif"
)

// yolo is the form of lines of a class number and a box, its centre and sides as shares of the picture's, or a
// polygon.
var yolo = annotations{form: "boxes of YOLO", parse: parseYOLO}

func parseYOLO(text []byte, about *subject, give func(*photo) ([]Decision, error)) ([]byte, error) {
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
			m.odd = fmt.Errorf("found the class %d, expected 0 to %d, as there are names", class, n-1)
		case n > 0:
			m.label = about.names[class]
		}
		low := [2]float64{v[0] - v[2]/2, v[1] - v[3]/2}
		high := [2]float64{v[0] + v[2]/2, v[1] + v[3]/2}
		if len(v) > 5 { // a polygon; a fifth number is a confidence
			low, high = computeBounds(v)
		}
		m.at = scaleBoxToShares(low, high, p.width, p.height)
		p.marks = append(p.marks, m)
	}
	what, err := give(&p)
	if err != nil || !changesAnything(what) {
		return text, err
	}
	var out []byte
	n := 0
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			if n++; what[n-1].Drop {
				continue
			}
			if what[n-1].Label != "" {
				number, err := about.findClassNumber(what[n-1].Label)
				if err != nil {
					return nil, fmt.Errorf("object %d: %w", n, err)
				}
				line = bytes.Replace(line, bytes.Fields(line)[0], []byte(number), 1)
			}
		}
		out = append(out, line...)
	}
	return out, nil
}

// computeBounds returns the corners of the box around points x, y, x, y, …
func computeBounds(v []float64) (low, high [2]float64) {
	low, high = [2]float64{v[0], v[1]}, [2]float64{v[0], v[1]}
	for i, c := range v[:len(v)&^1] {
		low[i%2], high[i%2] = min(low[i%2], c), max(high[i%2], c)
	}
	return low, high
}

// scaleBoxToShares returns a box in pixels, of its corners as shares of the picture's sides.
func scaleBoxToShares(low, high [2]float64, width, height float64) []float64 {
	pixels := func(share, side float64) float64 { return math.Round(share*side*1e4) / 1e4 }
	return []float64{pixels(low[0], width), pixels(low[1], height), pixels(high[0]-low[0], width),
		pixels(high[1]-low[1], height)}
}

func (t *listing) readPictureSize(picture string) (width, height float64, err error) {
	return Sides(t.fsys, picture)
}

// Sides returns the width and height in pixels of a picture as it is shown, by its header.
func Sides(fsys fs.FS, picture string) (width, height float64, err error) {
	head, err := headOf(fsys, picture, 1<<20)
	var c image.Config
	var format string
	if err == nil {
		c, format, err = image.DecodeConfig(bytes.NewReader(head))
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: its size, which the boxes need: %w", picture, err)
	}
	if exif.Orientation(format, head) > 4 {
		c.Width, c.Height = c.Height, c.Width
	}
	return float64(c.Width), float64(c.Height), nil
}

// classNames returns the names of YOLO's class numbers: names in a YAML file at the top, or the lines of obj.names or
// classes.txt; nil if there are none, or two are equal. Several files must name the same classes. file holds them.
func (t *listing) classNames() (names []string, file string, err error) {
	var unread error // of a YAML file; another may hold the names
	for _, p := range t.others {
		base := strings.ToLower(path.Base(p))
		isYAML := strings.HasSuffix(base, ".yaml") || strings.HasSuffix(base, ".yml")
		if strings.Count(p, "/") > 2 || !isYAML && !strings.HasSuffix(base, ".names") && base != "classes.txt" {
			continue
		}
		text, err := readSmall(t.fsys, p)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", p, err)
		}
		var list []string
		if isYAML {
			root, err := document.Parse(text)
			if err != nil {
				unread = cmp.Or(unread, fmt.Errorf("%s%w", p, err))
				continue
			}
			list = yamlNames(root)
		} else {
			for line := range strings.Lines(strings.TrimRight(string(text), "\r\n\t ")) {
				list = append(list, strings.TrimSpace(line))
			}
		}
		n := min(len(list), len(names))
		if !slices.Equal(list[:n], names[:n]) {
			return nil, "", fmt.Errorf("found the classes %s in %s and %s in %s: two readings are possible: move the "+
				"file of other pictures away", shortList(names), file, shortList(list), p)
		}
		if len(list) > len(names) {
			names, file = list, p
		}
	}
	if names == nil {
		return nil, "", unread
	}
	return names, file, nil
}

// shortList shows the first labels of a list.
func shortList(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// numberedIfTwins returns the names of classes by their numbers or, if two are equal or one is empty, the numbers.
func numberedIfTwins(names []string) (list []string, numbers bool) {
	seen := map[string]bool{"": true}
	for _, name := range names {
		if numbers = numbers || seen[name]; numbers {
			break
		}
		seen[name] = true
	}
	if !numbers {
		return names, false
	}
	list = make([]string, len(names))
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return list, true
}

// yamlNames returns the list names of a data.yaml, or its map from numbers.
func yamlNames(root ast.Node) []string {
	pairs := func(n ast.Node) []*ast.MappingValueNode {
		switch n := n.(type) {
		case *ast.MappingNode:
			return n.Values
		case *ast.MappingValueNode:
			return []*ast.MappingValueNode{n}
		}
		return nil
	}
	for _, p := range pairs(root) {
		if plainKey(p.Key.String()) != "names" {
			continue
		}
		if list, ok := p.Value.(*ast.SequenceNode); ok {
			var names []string
			for _, v := range list.Values {
				names = append(names, readScalarText(v))
			}
			return names
		}
		var names []string
		for _, v := range pairs(p.Value) {
			n, err := strconv.Atoi(plainKey(v.Key.String()))
			if err != nil || n < 0 || n > 1<<16 {
				return nil
			}
			for len(names) <= n {
				names = append(names, strconv.Itoa(len(names)))
			}
			names[n] = readScalarText(v.Value)
		}
		return names
	}
	return nil
}

func plainKey(text string) string { return strings.Trim(strings.TrimSpace(text), `"'`) }

func readScalarText(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return plainKey(n.String())
}
