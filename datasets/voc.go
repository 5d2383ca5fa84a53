package datasets

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The folders of Pascal VOC's data sets.
const (
	vocAnnotations = "Annotations"
	vocImages      = "JPEGImages"
	vocLists       = "ImageSets/Main"
)

// voc is the form of Pascal VOC's XML: pixels are counted from 1, and the last one belongs to the box.
var voc = annotations{form: "boxes of Pascal VOC", column: "difficult", parse: parseVOC}

// element is an element of XML.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Elements []element  `xml:",any"`
}

// findChild returns the first element of a name in an element, an empty one if there is none.
func (e *element) findChild(name string) *element {
	for i := range e.Elements {
		if e.Elements[i].XMLName.Local == name {
			return &e.Elements[i]
		}
	}
	return &element{}
}

// readPixels reads a number of pixels in an element of a name; 0: there is no such element.
func (e *element) readPixels(name string) (float64, error) {
	text := strings.TrimSpace(e.findChild(name).Text)
	if text == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: found %.40q, expected a number", name, text)
	}
	return v, nil
}

// rootElement returns the name of the root element of XML with this beginning, "" if it is none.
func rootElement(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) {
		return ""
	}
	in := xml.NewDecoder(bytes.NewReader(head))
	for {
		t, err := in.RawToken()
		if e, ok := t.(xml.StartElement); ok {
			return e.Name.Local
		}
		if err != nil {
			return ""
		}
	}
}

func parseVOC(text []byte, _ *subject, give func(*photo) ([]Decision, error)) ([]byte, error) {
	var root element
	if rootElement(text) != "annotation" {
		return nil, errOther
	}
	if err := xml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	var p photo
	var wrong error
	if p.width, wrong = root.findChild("size").readPixels("width"); wrong == nil {
		p.height, wrong = root.findChild("size").readPixels("height")
	}
	if wrong != nil {
		return nil, wrong
	}
	for i := range root.Elements {
		if o := &root.Elements[i]; o.XMLName.Local == "object" {
			p.marks = append(p.marks, vocMark(o))
		}
	}
	what, err := give(&p)
	if err != nil || !changesAnything(what) {
		return text, err
	}
	n := 0
	root.Elements = slices.DeleteFunc(root.Elements, func(o element) bool {
		if o.XMLName.Local != "object" {
			return false
		}
		n++
		if d := what[n-1]; !d.Drop && d.Label != "" {
			o.findChild("name").Text = d.Label
		}
		return what[n-1].Drop
	})
	root.trimSpace()
	out, err := xml.MarshalIndent(&root, "", "\t")
	return append(out, '\n'), err
}

// trimSpace removes the white space around the text of all elements.
func (e *element) trimSpace() {
	e.Text = strings.TrimSpace(e.Text)
	for i := range e.Elements {
		e.Elements[i].trimSpace()
	}
}

// vocMark reads an object.
func vocMark(o *element) labelMark {
	m := labelMark{
		label: strings.TrimSpace(o.findChild("name").Text),
		extra: strings.TrimSpace(o.findChild("difficult").Text),
	}
	box := o.findChild("bndbox")
	var v [4]float64
	for k, name := range []string{"xmin", "ymin", "xmax", "ymax"} {
		var err error
		v[k], err = box.readPixels(name)
		m.odd = cmp.Or(m.odd, err)
		if strings.TrimSpace(box.findChild(name).Text) == "" || m.label == "" {
			m.odd = cmp.Or(m.odd, errors.New("found no name or no bndbox, expected both"))
		}
	}
	m.at = []float64{v[0] - 1, v[1] - 1, v[2] - v[0] + 1, v[3] - v[1] + 1}
	return m
}

// vocSplits reads the split of each image. An image in two splits is an error.
func vocSplits(fsys fs.FS, dir string) (map[string]string, error) {
	splits := map[string]string{}
	for file, split := range map[string]string{"train.txt": Train, "val.txt": Validation, "test.txt": Test} {
		text, err := fs.ReadFile(fsys, path.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) == 0 {
				continue
			}
			if was, twice := splits[fields[0]]; twice && was != split {
				return nil, fmt.Errorf("%s: image %.80q is in two splits, expected one", dir, fields[0])
			}
			splits[fields[0]] = split
		}
	}
	return splits, nil
}

// isVOC reports whether the folders are Pascal VOC's.
func isVOC(tops []string) bool {
	return slices.Contains(tops, vocAnnotations) && slices.Contains(tops, vocImages)
}
