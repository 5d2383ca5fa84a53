package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/internal/jsontext"
)

// fiftyOne is the form of the folders that FiftyOne exports: labels.json of a FiftyOneImageClassificationDataset, and
// samples.json of a FiftyOneDataset, with the pictures below data/.
var fiftyOne = annotations{form: "labels of FiftyOne", list: true, parse: parseFiftyOne, name: fiftyOneName}

// fiftyOneField is the field of a sample that holds its labels, if there are several.
const fiftyOneField = "ground_truth"

// fiftyOneName returns a label as its number, if the file numbers labels, or as a text.
func fiftyOneName(about *subject, label string, was []byte) ([]byte, error) {
	if about.names == nil || len(was) > 0 && was[0] == '"' {
		return quoted(label), nil
	}
	return about.number(label, was)
}

func isFiftyOne(head []byte) bool {
	keys := jsontext.Keys(head)
	return keys["classes"] != 0 && keys["labels"] == '{' || keys["classes"] == '[' && len(keys) == 1 &&
		len(head) >= headSize || keys["samples"] == '[' && keys["images"] == 0
}

func parseFiftyOne(in *tape, about *subject, give func(*photo) error) error {
	j := json.NewDecoder(in)
	var other json.RawMessage
	known := false
	about.names = nil
	err := eachKey(j, func(key string) error {
		switch key {
		case "classes":
			err := j.Decode(&about.names)
			about.names, about.numbers = numberedIfTwins(about.names)
			return err
		case "labels":
			known = true
			return eachKeyFrom(j, func(picture string, from int64) error {
				p, err := fiftyOnePhoto(j, about, picture, from)
				if err == nil {
					err = give(p)
				}
				if err != nil {
					return fmt.Errorf("labels: %.200q: %w", picture, err)
				}
				return in.pass(p.end)
			})
		case "samples":
			known = true
			n := 0
			return eachElement(j, 0, func(raw json.RawMessage, all span) error {
				p, err := fiftyOneSample(raw, all, about)
				if err == nil {
					err = give(p)
				}
				if err != nil {
					return fmt.Errorf("samples[%d]: %w", n, err)
				}
				n++
				return in.pass(all.to)
			})
		}
		return j.Decode(&other)
	})
	if err == errNotObject || err == nil && !known {
		return errOther
	}
	if err == nil {
		return nil
	}
	return jsontext.Broken(j, err)
}

// fiftyOnePhoto reads the label of a picture in labels.json: a number, a name, or an object with a name. from is the
// end of the one before.
func fiftyOnePhoto(j *json.Decoder, about *subject, picture string, from int64) (*photo, error) {
	var raw json.RawMessage
	if err := j.Decode(&raw); err != nil {
		return nil, err
	}
	end := j.InputOffset()
	m := labelMark{all: span{from, end}, name: span{end - int64(len(raw)), end}}
	if raw[0] == '[' {
		marks, err := fiftyOneList(raw, end-int64(len(raw)), about)
		if err != nil {
			marks = []labelMark{{all: m.all}}
		}
		return &photo{file: picture, marks: marks, end: end, shares: true, odd: err}, nil
	}
	if raw[0] == '{' {
		m.name = valueOf(raw, "label", m.name.from)
		if m.name == (span{}) {
			m.odd = errors.New("found no label")
			return &photo{file: picture, marks: []labelMark{m}, end: end, more: true}, nil
		}
		raw = raw[m.name.from-(end-int64(len(raw))):][:m.name.to-m.name.from]
	}
	m.label, m.odd = about.className(raw)
	return &photo{file: picture, marks: []labelMark{m}, end: end, more: true}, nil
}

// className returns the name of a class in labels.json: its number among those of the file, or the name.
func (s *subject) className(raw json.RawMessage) (string, error) {
	n := 0
	switch err := json.Unmarshal(raw, &n); {
	case string(raw) == "null":
		return "", nil
	case err == nil && (n < 0 || n >= len(s.names)):
		return "", fmt.Errorf("found the class %d, expected 0 to %d, as there are classes before", n, len(s.names)-1)
	case err == nil:
		return s.names[n], nil
	}
	return jsontext.Plain(raw)
}

// fiftyOneList reads the labels of a picture in the labels.json of a FiftyOneImageDetectionDataset, which are boxes, or
// of one with several labels a picture.
func fiftyOneList(list json.RawMessage, at int64, about *subject) (marks []labelMark, err error) {
	err = eachElement(json.NewDecoder(bytes.NewReader(list)), at, func(raw json.RawMessage, all span) error {
		var d struct {
			Label json.RawMessage `json:"label"`
			Box   []float64       `json:"bounding_box"`
		}
		m := labelMark{all: all, name: valueOf(raw, "label", all.to-int64(len(raw)))}
		if raw[0] != '{' {
			d.Label = raw
		} else if m.odd = json.Unmarshal(raw, &d); m.odd == nil && d.Box != nil && len(d.Box) != 4 {
			m.odd = fmt.Errorf("found %d numbers in bounding_box, expected left, top, width, height", len(d.Box))
		}
		if m.at = d.Box; m.odd == nil {
			m.label, m.odd = about.className(d.Label)
		}
		marks = append(marks, m)
		return nil
	})
	return marks, err
}

// fiftyOneSample reads a sample of samples.json.
func fiftyOneSample(raw json.RawMessage, all span, about *subject) (*photo, error) {
	var s struct {
		Path     string   `json:"filepath"`
		Tags     []string `json:"tags"`
		Metadata *struct {
			Width, Height float64
		} `json:"metadata"`
	}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &s)
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err == nil && s.Path == "" {
		err = errors.New("found no filepath")
	}
	p := &photo{file: s.Path, end: all.to, more: true, shares: true}
	if err != nil {
		p.marks, p.odd = []labelMark{{all: all}}, err
		return p, nil
	}
	if s.Metadata != nil {
		p.width, p.height = s.Metadata.Width, s.Metadata.Height
	}
	for _, tag := range s.Tags {
		if split, err := ParseSplit(tag); err == nil {
			p.split = split
		}
	}
	if about.field == "" {
		if about.field, err = labelField(fields); err != nil {
			return nil, err
		}
	}
	nothing := labelMark{all: all, left: "without a label"}
	at := valueOf(raw, about.field, all.to-int64(len(raw)))
	var value struct {
		Kind       string           `json:"_cls"`
		Label      *string          `json:"label"`
		Detections *json.RawMessage `json:"detections"`
	}
	field := fields[about.field]
	if about.field == "" || len(field) == 0 || json.Unmarshal(field, &value) != nil {
		p.marks = append(p.marks, nothing)
		return p, nil
	}
	switch {
	case value.Detections != nil:
		if p.marks, p.odd = detections(field, at.from); p.odd != nil {
			p.marks = []labelMark{{all: all}}
			return p, nil
		}
		p.more = false
	case value.Label != nil && *value.Label != "":
		p.marks = append(p.marks, labelMark{label: *value.Label, all: all, name: valueOf(field, "label", at.from)})
	default:
		p.marks = append(p.marks, nothing)
	}
	return p, nil
}

// labelField returns the field that holds a sample's labels, "" if it has none.
func labelField(fields map[string]json.RawMessage) (string, error) {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var value struct {
			Kind string `json:"_cls"`
		}
		if json.Unmarshal(fields[name], &value) == nil &&
			(value.Kind == "Classification" || value.Kind == "Detections") {
			found = append(found, name)
		}
	}
	switch {
	case slices.Contains(found, fiftyOneField):
		return fiftyOneField, nil
	case len(found) > 1:
		return "", fmt.Errorf("found the label fields %.200s, expected one, or one called %s: export the one to judge",
			strings.Join(found, ", "), fiftyOneField)
	}
	return strings.Join(found, ""), nil
}

// detections reads the boxes of a field, which are shares of the picture's sides.
func detections(field json.RawMessage, at int64) (marks []labelMark, err error) {
	in := json.NewDecoder(bytes.NewReader(field))
	err = eachKey(in, func(key string) error {
		var other json.RawMessage
		if key != "detections" {
			return in.Decode(&other)
		}
		return eachElement(in, at, func(raw json.RawMessage, all span) error {
			var d struct {
				Label string    `json:"label"`
				Box   []float64 `json:"bounding_box"`
			}
			err := json.Unmarshal(raw, &d)
			m := labelMark{label: d.Label, at: d.Box, all: all, name: valueOf(raw, "label", all.to-int64(len(raw)))}
			switch {
			case err == nil && d.Label == "":
				m = labelMark{all: all, left: "without a label"}
			case err == nil && (len(d.Box) != 4 || m.name == span{}):
				err = fmt.Errorf("found %d numbers in bounding_box, expected left, top, width, height", len(d.Box))
			}
			m.odd = err
			marks = append(marks, m)
			return nil
		})
	})
	return marks, err
}
