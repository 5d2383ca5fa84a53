package datasets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"winnow/internal/jsontext"
)

// datumaro is the form of Datumaro's JSON: boxes, the boxes around polygons, and labels of whole pictures.
var datumaro = annotations{form: "annotations of Datumaro", list: true, parse: parseDatumaro, name: (*subject).number}

// datumaroItem is a picture of Datumaro, but for its annotations.
type datumaroItem struct {
	ID    ident `json:"id"`
	Image struct {
		Path string    `json:"path"`
		Size []float64 `json:"size"` // height, width
	} `json:"image"`
}

type datumaroNames struct {
	Label struct {
		Labels []struct {
			Name string `json:"name"`
		} `json:"labels"`
	} `json:"label"`
}

func parseDatumaro(in *tape, about *subject, give func(*photo) error) error {
	j := json.NewDecoder(in)
	var other json.RawMessage
	items := false
	about.names = nil
	err := eachKey(j, func(key string) error {
		switch key {
		case "categories":
			var c datumaroNames
			if err := j.Decode(&c); err != nil {
				return fmt.Errorf("categories: %w", err)
			}
			about.names = []string{}
			for _, l := range c.Label.Labels {
				about.names = append(about.names, l.Name)
			}
			about.names, about.numbers = numberedIfTwins(about.names)
			return nil
		case "items":
			if items = true; about.names == nil {
				return errors.New("found items and no categories before them, expected the labels in " +
					"categories.label.labels")
			}
			n := 0
			return eachElement(j, 0, func(raw json.RawMessage, all span) error {
				p := datumaroPhoto(raw, all, about.names)
				p.file = cmp.Or(p.file, fmt.Sprintf("items[%d]", n))
				if err := give(p); err != nil {
					return fmt.Errorf("items[%d]: %w", n, err)
				}
				n++
				return in.pass(all.to)
			})
		}
		return j.Decode(&other)
	})
	if err == errNotObject || err == nil && !items {
		return errOther
	}
	if err == nil {
		return nil
	}
	return jsontext.Broken(j, err)
}

func datumaroPhoto(raw json.RawMessage, all span, names []string) *photo {
	var item datumaroItem
	p := &photo{end: all.to, odd: json.Unmarshal(raw, &item)}
	if p.file = item.Image.Path; p.odd != nil {
		return p
	}
	if p.file == "" {
		p.file = string(item.ID)
	}
	if len(item.Image.Size) == 2 {
		p.height, p.width = item.Image.Size[0], item.Image.Size[1]
	}
	in, at := json.NewDecoder(bytes.NewReader(raw)), all.to-int64(len(raw))
	p.odd = eachKey(in, func(key string) error {
		if key != "annotations" {
			var other json.RawMessage
			return in.Decode(&other)
		}
		return eachElement(in, at, func(raw json.RawMessage, all span) error {
			p.marks = append(p.marks, datumaroMark(raw, all, names))
			return nil
		})
	})
	return p
}

func datumaroMark(raw json.RawMessage, all span, names []string) labelMark {
	var a struct {
		Type   string    `json:"type"`
		Label  *int      `json:"label_id"`
		Box    []float64 `json:"bbox"`
		Points []float64 `json:"points"`
	}
	m := labelMark{all: all, odd: json.Unmarshal(raw, &a), name: valueOf(raw, "label_id", all.to-int64(len(raw)))}
	switch {
	case m.odd != nil:
		return m
	case a.Label == nil || m.name == span{}:
		m.left = "without a label"
		return m
	case *a.Label < 0 || *a.Label >= len(names):
		m.odd = fmt.Errorf("found the label_id %d, expected 0 to %d, as there are labels in categories", *a.Label,
			len(names)-1)
		return m
	}
	m.label = names[*a.Label]
	switch a.Type {
	case "label":
	case "bbox":
		if m.at = a.Box; len(a.Box) != 4 {
			m.odd = fmt.Errorf("bbox: found %d numbers, expected x, y, width, height", len(a.Box))
		}
	case "polygon":
		if len(a.Points) < 4 || len(a.Points)%2 != 0 {
			m.odd = fmt.Errorf("points: found %d numbers, expected x and y of two points or more", len(a.Points))
			return m
		}
		low, high := around(a.Points)
		m.at = []float64{low[0], low[1], high[0] - low[0], high[1] - low[1]}
	default:
		m.left = fmt.Sprintf("of the type %.40q", a.Type)
	}
	return m
}

// isDatumaro reports whether JSON with this beginning is Datumaro's.
func isDatumaro(head []byte) bool {
	keys := jsontext.Keys(head)
	return keys["categories"] == '{' && keys["images"] == 0 || keys["items"] == '[' && keys["info"] == '{'
}
