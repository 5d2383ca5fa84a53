package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"winnow/internal/jsontext"
)

// categoriesOf reads the categories of COCO's JSON.
func categoriesOf(r io.Reader) (label map[ident]string, id map[string]ident, err error) {
	var categories categoryList
	in := json.NewDecoder(r)
	var other json.RawMessage
	err = jsontext.Each(in, cocoLists, func(list string, _ int) error {
		if list != cocoCategories {
			return in.Decode(&other)
		}
		var c cocoCategory
		err := in.Decode(&c)
		categories = append(categories, c)
		return err
	})
	if err == nil {
		label, id, _, err = categories.nameCategories()
	}
	return label, id, err
}

// editCOCO returns COCO's JSON with the category_id of relabelled annotations replaced and without dropped ones.
func (m *mender) editCOCO(text []byte) (edited []byte, err error) {
	column := slices.Index(m.d.Columns, annotationID)
	if column < 0 {
		return nil, errors.New("was not read as COCO's annotations before: the file has changed")
	}
	if err := jsontext.Check(text); err != nil {
		return nil, err
	}
	if m.labels, m.ids, err = categoriesOf(bytes.NewReader(text)); err != nil {
		return nil, err
	}
	edited = jsontext.EditMember(text, cocoAnnotations, func(list json.RawMessage) json.RawMessage {
		return jsontext.EditElements(list, func(n int, raw json.RawMessage) json.RawMessage {
			if err != nil {
				return raw
			}
			if raw, err = m.editAnnotation(raw, column); err != nil {
				err = fmt.Errorf("%s[%d]: %w", cocoAnnotations, n, err)
			}
			return raw
		})
	})
	return jsontext.Like(edited, text), err
}

// editAnnotation mends an annotation; nil: it is dropped. One that was not read as a sample stays.
func (m *mender) editAnnotation(text []byte, column int) ([]byte, error) {
	var a cocoAnnotation
	if err := json.Unmarshal(text, &a); isOdd(err) {
		return text, nil
	} else if err != nil {
		return nil, err
	}
	if m.next >= m.until || m.d.Samples[m.next].Extra[column] != string(a.ID) {
		return text, nil
	}
	was := m.labels[a.Category]
	what, err := m.decideNext(m.d.Samples[m.next].Path, was)
	if err != nil {
		return nil, fmt.Errorf("annotation %s with the category %q is not what was read before: the file has changed",
			a.ID, was)
	}
	if what.Drop {
		return nil, nil
	}
	if what.Label == was {
		return text, nil
	}
	id, known := m.ids[what.Label]
	if !known {
		return nil, fmt.Errorf("annotation %s: the new label %q is not among the categories: add one of that name "+
			"to the file", a.ID, what.Label)
	}
	return jsontext.EditMember(text, "category_id", func(was json.RawMessage) json.RawMessage {
		if was[0] == '"' {
			return jsontext.Quote(string(id))
		}
		return json.RawMessage(id)
	}), nil
}
