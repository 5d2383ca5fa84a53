package datasets

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"strings"
)

// cvat is the form of CVAT for images 1.1: boxes, the boxes around polygons, masks and ellipses, and tags, which are
// labels of whole pictures.
var cvat = annotations{form: "boxes of CVAT", parse: parseCVAT, name: xmlText}

// otherShape is why shapes that have no box are left out.
const otherShape = "that are points, lines or cuboids"

func parseCVAT(in *tape, _ *subject, give func(*photo) error) error {
	x := newXML(in)
	var p photo
	root, at := false, ""
	for {
		t, err := x.next()
		switch {
		case err != nil && !root:
			return errOther
		case err != nil:
			return err
		}
		switch t := t.(type) {
		case nil:
			if !root {
				return errOther
			}
			return nil
		case xml.StartElement:
			switch {
			case !root && t.Name.Local != "annotations":
				return errOther
			case x.within("annotations", "track"):
				return errors.New("is of CVAT for video, whose boxes belong to frames: export the task as " +
					"CVAT for images 1.1, with its pictures")
			case x.within("annotations", "image"):
				a := attributes(t)
				p = photo{file: strings.ReplaceAll(a["name"], `\`, "/")}
				if at = fmt.Sprintf("image %.200q", p.file); p.file == "" {
					p.odd = errors.New("found an image without a name, expected that of the picture")
				}
				if s, err := ParseSplit(a["subset"]); err == nil {
					p.split = s
				}
				for side, to := range map[string]*float64{"width": &p.width, "height": &p.height} {
					if a[side] != "" && p.odd == nil {
						*to, p.odd = pixelsOf(side, a[side])
					}
				}
			case len(x.path) == 3 && x.path[1] == "image":
				p.marks = append(p.marks, x.cvatShape(t))
			}
			root = true
		case xml.EndElement:
			switch {
			case len(x.path) == 4 && x.path[1] == "image":
				p.marks[len(p.marks)-1].all.to = x.in.InputOffset()
			case x.within("annotations", "image"):
				p.end = x.in.InputOffset()
				if err = give(&p); err == nil {
					err = in.pass(p.end)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
}

// cvatShape returns what an element of an image says.
func (x *xmlReader) cvatShape(e xml.StartElement) (m labelMark) {
	a := attributes(e)
	m = labelMark{label: strings.TrimSpace(a["label"]), all: span{from: x.lead}}
	var known bool
	if m.name, known = x.attribute("label"); !known || m.label == "" {
		m.odd = fmt.Errorf("%s: found no label", e.Name.Local)
		return m
	}
	number := func(name string) float64 {
		v, err := pixelsOf(name, a[name])
		if err != nil && m.odd == nil {
			m.odd = fmt.Errorf("%s: %w", e.Name.Local, err)
		}
		return v
	}
	switch e.Name.Local {
	case "tag":
	case "box":
		low := [2]float64{number("xtl"), number("ytl")}
		high := [2]float64{number("xbr"), number("ybr")}
		w, h := high[0]-low[0], high[1]-low[1]
		if a["rotation"] != "" { // degrees around the centre: the box around it
			sin, cos := math.Sincos(number("rotation") * math.Pi / 180)
			cx, cy := (low[0]+high[0])/2, (low[1]+high[1])/2
			w, h = math.Abs(w*cos)+math.Abs(h*sin), math.Abs(w*sin)+math.Abs(h*cos)
			low = [2]float64{cx - w/2, cy - h/2}
		}
		m.at = []float64{low[0], low[1], w, h}
	case "mask":
		m.at = []float64{number("left"), number("top"), number("width"), number("height")}
	case "ellipse":
		cx, cy, rx, ry := number("cx"), number("cy"), number("rx"), number("ry")
		m.at = []float64{cx - rx, cy - ry, 2 * rx, 2 * ry}
	case "polygon":
		var v []float64
		for _, c := range strings.FieldsFunc(a["points"], func(r rune) bool { return r == ',' || r == ';' }) {
			n, err := pixelsOf("polygon: points", c)
			v, m.odd = append(v, n), cmp.Or(m.odd, err)
		}
		if len(v) < 4 || len(v)%2 != 0 {
			m.odd = fmt.Errorf("polygon: points: found %d numbers, expected x and y of two points or more", len(v))
			return m
		}
		low, high := around(v)
		m.at = []float64{low[0], low[1], high[0] - low[0], high[1] - low[1]}
	default:
		m.left = otherShape
	}
	return m
}

// rootElement returns the name of the first element of XML with this beginning, "" if it is none.
func rootElement(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) {
		return ""
	}
	in := xml.NewDecoder(bytes.NewReader(head))
	in.CharsetReader = newXML(nil).in.CharsetReader
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
