package datasets

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// The folders of Pascal VOC's data sets.
const (
	vocAnnotations = "Annotations"
	vocImages      = "JPEGImages"
	vocLists       = "ImageSets/Main"
)

// voc is the form of Pascal VOC's XML: pixels are counted from 1, and the last one belongs to the box.
var voc = annotations{form: "boxes of Pascal VOC", column: "difficult", parse: parseVOC, name: xmlText}

func parseVOC(in *tape, _ *subject, give func(*photo) error) error {
	x := newXML(in)
	var p photo
	var m labelMark
	var sides map[string]float64
	root, text := false, ""
	for {
		t, err := x.next()
		if err != nil && !root {
			return errOther
		}
		if err != nil {
			return err
		}
		object := len(x.path) > 1 && x.path[1] == "object"
		switch t := t.(type) {
		case nil:
			if !root {
				return errOther
			}
			return give(&p)
		case xml.StartElement:
			text = ""
			switch {
			case !root && t.Name.Local != "annotation":
				return errOther
			case x.within("annotation", "object"):
				m, sides = labelMark{all: span{from: x.lead}}, map[string]float64{}
			case x.within("annotation", "object", "name"):
				m.name.from = x.in.InputOffset()
			}
			root = true
		case xml.CharData:
			text += string(t)
		case xml.EndElement:
			switch {
			case x.within("annotation", "size", "width"):
				p.width, err = pixelsOf("width", text)
			case x.within("annotation", "size", "height"):
				p.height, err = pixelsOf("height", text)
			case object && x.within("annotation", "object", "name"):
				m.label, m.name.to = strings.TrimSpace(text), x.from
			case object && x.within("annotation", "object", "difficult"):
				m.extra = strings.TrimSpace(text)
			case object && len(x.path) == 5 && x.path[2] == "bndbox":
				side, err := pixelsOf(x.path[3], text)
				sides[x.path[3]], m.odd = side, cmp.Or(m.odd, err)
			case x.within("annotation", "object"):
				m.all.to = x.in.InputOffset()
				if m.label == "" || len(sides) < 4 {
					m.odd = cmp.Or(m.odd, errors.New("found no name or no bndbox, expected both"))
				}
				m.at = []float64{sides["xmin"] - 1, sides["ymin"] - 1, sides["xmax"] - sides["xmin"] + 1,
					sides["ymax"] - sides["ymin"] + 1}
				p.marks = append(p.marks, m)
			}
			if text = ""; err != nil {
				return err
			}
		}
	}
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
