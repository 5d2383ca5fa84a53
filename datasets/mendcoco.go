package datasets

import (
	"bytes"
	"encoding/json"
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
		label, id, _, err = categories.names()
	}
	return label, id, err
}

// coco copies COCO's JSON. It replaces the category_id of relabelled annotations and leaves out dropped ones with
// the comma before them; all other bytes stay.
func (m *mender) coco(raw io.Reader) error {
	column := slices.Index(m.d.Columns, annotationID)
	if column < 0 {
		return fmt.Errorf(": was not read as COCO's annotations before: the file has changed")
	}
	var passed bytes.Buffer // what the parser has read and is not copied yet
	in := json.NewDecoder(io.TeeReader(raw, &passed))
	at, kept := int64(0), 0
	next := func() []byte { // the bytes up to the parser's position
		n := in.InputOffset() - at
		at += n
		return passed.Next(int(n))
	}
	var element json.RawMessage
	err := jsontext.Each(in, cocoLists, func(list string, n int) error {
		if list != cocoAnnotations {
			if err := in.Decode(&element); err != nil {
				return err
			}
			_, _ = m.out.Write(next()) // errors are returned by Flush, here and below
			return nil
		}
		if n == 0 {
			_, _ = m.out.Write(next()) // up to [
		}
		if err := in.Decode(&element); err != nil {
			return err
		}
		text := next()
		mended, err := m.annotation(element, column)
		if err != nil || mended == nil {
			return err
		}
		gap := text[:len(text)-len(element)]
		if kept == 0 {
			gap = bytes.Replace(gap, []byte(","), nil, 1)
		}
		kept++
		_, _ = m.out.Write(gap)
		_, _ = m.out.Write(mended)
		return nil
	})
	_, _ = m.out.Write(passed.Bytes())
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// annotation mends an annotation; nil: it is dropped. One that was not read as a sample stays.
func (m *mender) annotation(text []byte, column int) ([]byte, error) {
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
	what, err := m.decide(m.d.Samples[m.next].Path, was)
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
	return replaced(text, "category_id", func(was []byte) []byte {
		if was[0] == '"' {
			return quoted(string(id))
		}
		return []byte(id)
	})
}

// replaced returns an object with the values of a key replaced and all other bytes unchanged.
func replaced(object []byte, key string, value func(was []byte) []byte) ([]byte, error) {
	in := json.NewDecoder(bytes.NewReader(object))
	var out []byte
	from := 0
	_, err := in.Token()
	for err == nil && in.More() {
		var name json.Token
		var raw json.RawMessage
		if name, err = in.Token(); err == nil {
			err = in.Decode(&raw)
		}
		if err == nil && name == key {
			end := int(in.InputOffset())
			out = append(append(out, object[from:end-len(raw)]...), value(raw)...)
			from = end
		}
	}
	return append(out, object[from:]...), err
}
