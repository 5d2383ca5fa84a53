package datasets

import (
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
var fiftyOne = annotations{form: "labels of FiftyOne", parse: parseFiftyOne}

// fiftyOneField is the field of a sample that holds its labels, if there are several.
const fiftyOneField = "ground_truth"

func isFiftyOne(head []byte) bool {
	keys := jsontext.Keys(head)
	return keys["classes"] != 0 && keys["labels"] == '{' || keys["classes"] == '[' && len(keys) == 1 &&
		len(head) >= headSize || keys["samples"] == '[' && keys["images"] == 0
}

func parseFiftyOne(text []byte, about *subject, give func(*photo) ([]Decision, error)) (edited []byte, err error) {
	if !json.Valid(text) {
		return nil, jsontext.Check(text)
	}
	labels, samples := jsontext.Member(text, "labels"), jsontext.Member(text, "samples")
	if len(labels) == 0 && len(samples) == 0 {
		return nil, errOther
	}
	changed, take := false, give
	give = func(p *photo) ([]Decision, error) {
		what, err := take(p)
		changed = changed || changesAnything(what)
		return what, err
	}
	about.names = nil
	if raw := jsontext.Member(text, "classes"); raw != nil {
		if err := json.Unmarshal(raw, &about.names); err != nil {
			return nil, err
		}
		about.names, about.numbers = numberedIfTwins(about.names)
	}
	edited = jsontext.EditMember(text, "samples", func(list json.RawMessage) json.RawMessage {
		return jsontext.EditElements(list, func(n int, raw json.RawMessage) json.RawMessage {
			if err != nil {
				return raw
			}
			changed, wrong := fiftyOneSample(raw, about, give)
			if wrong != nil {
				err = fmt.Errorf("samples[%d]: %w", n, wrong)
			}
			return changed
		})
	})
	edited = jsontext.EditMember(edited, "labels", func(all json.RawMessage) json.RawMessage {
		return jsontext.EditMembers(all, func(picture string, raw json.RawMessage) json.RawMessage {
			if err != nil {
				return raw
			}
			changed, wrong := fiftyOnePhoto(raw, about, picture, give)
			if wrong != nil {
				err = fmt.Errorf("labels: %.200q: %w", picture, wrong)
			}
			return changed
		})
	})
	if err != nil || !changed {
		return text, err
	}
	return jsontext.Like(edited, text), nil
}

// fiftyOnePhoto reads the label of a picture in labels.json: a number, a name, an object with a name, or a list of
// them, which are boxes or several labels. It returns the value with the decisions, nil if it is dropped.
func fiftyOnePhoto(raw json.RawMessage, about *subject, picture string,
	give func(*photo) ([]Decision, error)) (json.RawMessage, error) {
	isList := raw[0] == '['
	list := jsontext.Elements(raw)
	if !isList {
		list = []json.RawMessage{raw}
	}
	p := &photo{file: picture, shares: true}
	number := false
	for _, value := range list {
		var d struct {
			Label json.RawMessage `json:"label"`
			Box   []float64       `json:"bounding_box"`
		}
		var m labelMark
		if value[0] != '{' {
			d.Label = value
		} else if m.odd = json.Unmarshal(value, &d); m.odd == nil && d.Box != nil && len(d.Box) != 4 {
			m.odd = fmt.Errorf("found %d numbers in bounding_box, expected left, top, width, height", len(d.Box))
		} else if m.odd == nil && d.Label == nil {
			m.odd = errors.New("found no label")
		}
		if m.at = d.Box; m.odd == nil {
			m.label, m.odd = about.className(d.Label)
		}
		number = number || about.names != nil && (len(d.Label) == 0 || d.Label[0] != '"')
		p.marks = append(p.marks, m)
	}
	what, err := give(p)
	if err != nil || !changesAnything(what) {
		return raw, err
	}
	if !isList {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	raw = decideElements(raw, what, func(label string) (json.RawMessage, error) {
		if !number {
			return jsontext.Quote(label), nil
		}
		n, err := about.findClassNumber(label)
		return json.RawMessage(n), err
	}, &err)
	if isList {
		return raw, err
	}
	if list = jsontext.Elements(raw); len(list) == 0 {
		return nil, err
	}
	return list[0], err
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

// fiftyOneSample reads a sample of samples.json, and returns it with the decisions; nil: it is dropped.
func fiftyOneSample(raw json.RawMessage, about *subject,
	give func(*photo) ([]Decision, error)) (json.RawMessage, error) {
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
	p := &photo{file: s.Path, shares: true, odd: err}
	if err != nil {
		_, err := give(p)
		return raw, err
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
			return raw, err
		}
	}
	var value struct {
		Label      *string          `json:"label"`
		Detections *json.RawMessage `json:"detections"`
	}
	field := fields[about.field]
	if about.field == "" || len(field) == 0 || json.Unmarshal(field, &value) != nil {
		field = nil
	}
	switch {
	case field != nil && value.Detections != nil:
		p.marks, p.odd = readDetections(*value.Detections)
	case field != nil && value.Label != nil && *value.Label != "":
		p.marks = []labelMark{{label: *value.Label}}
	default:
		p.marks = []labelMark{{left: "without a label"}}
	}
	what, err := give(p)
	if err != nil || !changesAnything(what) {
		return raw, err
	}
	name := func(label string) (json.RawMessage, error) { return jsontext.Quote(label), nil }
	if value.Detections == nil && len(what) == 1 && what[0].Drop {
		return nil, nil
	}
	return jsontext.EditMember(raw, about.field, func(was json.RawMessage) json.RawMessage {
		if value.Detections == nil {
			return jsontext.Elements(decideElements(slices.Concat([]byte("["), was, []byte("]")), what, name, &err))[0]
		}
		return jsontext.EditMember(was, "detections", func(list json.RawMessage) json.RawMessage {
			return decideElements(list, what, name, &err)
		})
	}), err
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

// readDetections reads the boxes of a field, which are shares of the picture's sides.
func readDetections(list json.RawMessage) (marks []labelMark, err error) {
	var all []json.RawMessage
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, err
	}
	for _, raw := range all {
		var d struct {
			Label string    `json:"label"`
			Box   []float64 `json:"bounding_box"`
		}
		err := json.Unmarshal(raw, &d)
		m := labelMark{label: d.Label, at: d.Box}
		switch {
		case err == nil && d.Label == "":
			m = labelMark{left: "without a label"}
		case err == nil && len(d.Box) != 4:
			err = fmt.Errorf("found %d numbers in bounding_box, expected left, top, width, height", len(d.Box))
		}
		m.odd = err
		marks = append(marks, m)
	}
	return marks, nil
}
