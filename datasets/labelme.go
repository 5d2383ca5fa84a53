package datasets

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"winnow/internal/jsontext"
)

// labelMe is the form of LabelMe's JSON: the box around each of its shapes.
var labelMe = annotations{form: "shapes of LabelMe", parse: parseLabelMe}

// labelMeShape is a shape of LabelMe.
type labelMeShape struct {
	Label  string       `json:"label"`
	Type   string       `json:"shape_type"`
	Points [][2]float64 `json:"points"`
}

func (s *labelMeShape) computeShapeBox() []float64 {
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

func parseLabelMe(text []byte, _ *subject, give func(*photo) ([]Decision, error)) ([]byte, error) {
	var file struct {
		Width  float64            `json:"imageWidth"`
		Height float64            `json:"imageHeight"`
		Shapes *[]json.RawMessage `json:"shapes"`
	}
	if err := json.Unmarshal(text, &file); err != nil && jsontext.Keys(text) == nil {
		return nil, errOther
	} else if err != nil {
		return nil, err
	}
	if file.Shapes == nil {
		return nil, errOther
	}
	p := photo{width: file.Width, height: file.Height}
	for _, raw := range *file.Shapes {
		p.marks = append(p.marks, labelMeMark(raw))
	}
	what, err := give(&p)
	if err != nil || !changesAnything(what) {
		return text, err
	}
	edited := jsontext.EditMember(text, "shapes", func(list json.RawMessage) json.RawMessage {
		return decideElements(list, what, func(label string) (json.RawMessage, error) {
			return jsontext.Quote(label), nil
		}, &err)
	})
	return jsontext.Like(edited, text), err
}

// changesAnything reports whether decisions change anything.
func changesAnything(what []Decision) bool {
	return slices.ContainsFunc(what, func(d Decision) bool { return d.Drop || d.Label != "" })
}

// decideElements carries out the decisions on the elements of a list of JSON, objects with a label, which name writes.
func decideElements(list json.RawMessage, what []Decision, name func(label string) (json.RawMessage, error),
	wrong *error) json.RawMessage {
	return jsontext.EditElements(list, func(n int, was json.RawMessage) json.RawMessage {
		if n >= len(what) || what[n].Label == "" && !what[n].Drop {
			return was
		}
		if what[n].Drop {
			return nil
		}
		label, err := name(what[n].Label)
		if *wrong = cmp.Or(*wrong, err); was[0] != '{' {
			return label
		}
		return jsontext.EditMember(was, "label", func(json.RawMessage) json.RawMessage { return label })
	})
}

func labelMeMark(raw json.RawMessage) labelMark {
	var s labelMeShape
	m := labelMark{odd: json.Unmarshal(raw, &s)}
	m.label = s.Label
	switch {
	case m.odd != nil:
	case s.Label == "" || len(s.Points) < 1 || len(s.Points) < 2 && s.Type != "point":
		m.odd = fmt.Errorf("found the label %q and %d points, expected a label and two points or more", s.Label,
			len(s.Points))
	case s.Type == "point":
		m.left = "that are points"
	default:
		m.at = s.computeShapeBox()
	}
	return m
}
