package datasets

import (
	"encoding/json"
	"fmt"
	"math"

	"winnow/internal/jsontext"
)

// labelMe is the form of LabelMe's JSON: the box around each of its shapes.
var labelMe = annotations{form: "shapes of LabelMe", list: true, parse: parseLabelMe, name: jsonText}

// labelMeShape is a shape of LabelMe.
type labelMeShape struct {
	Label  string       `json:"label"`
	Type   string       `json:"shape_type"`
	Points [][2]float64 `json:"points"`
}

func (s *labelMeShape) box() []float64 {
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
	return []float64{low[0], low[1], high[0] - low[0], high[1] - low[1]}
}

func parseLabelMe(in *tape, _ *subject, give func(*photo) error) error {
	j := json.NewDecoder(in)
	var p photo
	shapes := false
	err := eachKey(j, func(key string) error {
		switch key {
		case "imageWidth":
			return j.Decode(&p.width)
		case "imageHeight":
			return j.Decode(&p.height)
		case "shapes":
			shapes = true
			return eachElement(j, 0, func(raw json.RawMessage, all span) error {
				p.marks = append(p.marks, labelMeMark(raw, all))
				return nil
			})
		}
		var other json.RawMessage // the picture may be one of them
		return j.Decode(&other)
	})
	if err == errNotObject || err == nil && !shapes {
		return errOther
	}
	if err != nil {
		return jsontext.Broken(j, err)
	}
	return give(&p)
}

func labelMeMark(raw json.RawMessage, all span) labelMark {
	var s labelMeShape
	m := labelMark{all: all, odd: json.Unmarshal(raw, &s)}
	m.label, m.name = s.Label, valueOf(raw, "label", all.to-int64(len(raw)))
	switch {
	case m.odd != nil:
	case m.name == (span{}) || s.Label == "" || len(s.Points) < 1 || len(s.Points) < 2 && s.Type != "point":
		m.odd = fmt.Errorf("found the label %q and %d points, expected a label and two points or more", s.Label,
			len(s.Points))
	case s.Type == "point":
		m.left = "that are points"
	default:
		m.at = s.box()
	}
	return m
}
