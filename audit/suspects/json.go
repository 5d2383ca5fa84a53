package suspects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

func writeJSONL(w io.Writer, entries []Suspect) error {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	for i := range entries {
		if err := to.Encode(&entries[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeJSON writes an object whose images are the list.
func writeJSON(w io.Writer, entries []Suspect) error {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	lead := "{\"images\": [\n"
	for i := range entries {
		_, _ = out.WriteString(lead) // told by Flush
		if err := to.Encode(&entries[i]); err != nil {
			return err
		}
		lead = ","
	}
	if len(entries) == 0 {
		_, _ = out.WriteString(lead)
	}
	_, _ = out.WriteString("]}\n")
	return out.Flush()
}

func readJSONL(r io.Reader, into *rows) error {
	in := bufio.NewScanner(unmarked(r))
	in.Buffer(make([]byte, 0, 1<<16), mostOfRow)
	line := 1
	for ; in.Scan(); line++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		if err := into.object(in.Bytes()); err != nil {
			return fmt.Errorf(":%d: %w", line, err)
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return fmt.Errorf(":%d: %w", line, errRow)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// readJSON reads a list, or the list that is the images of an object.
func readJSON(r *io.SectionReader, into *rows) error {
	limit := &bounded{r: r, left: mostOfRow}
	in := json.NewDecoder(unmarked(limit))
	err := listed(in, limit, into)
	if err == nil {
		return nil
	}
	at := in.InputOffset()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, err = r.Size(), errors.New("the file ends early, expected a list of images")
	}
	line := 1
	before := bufio.NewReader(io.NewSectionReader(r, 0, at))
	for c, e := before.ReadByte(); e == nil; c, e = before.ReadByte() {
		if c == '\n' {
			line++
		}
	}
	return fmt.Errorf(":%d: %w", line, err)
}

// listed reads to the end of the list.
func listed(in *json.Decoder, limit *bounded, into *rows) error {
	first, err := in.Token()
	if err != nil {
		return err
	}
	for first == json.Delim('{') {
		key, err := in.Token()
		if err != nil {
			return err
		}
		if key == json.Delim('}') {
			return fmt.Errorf("found no images in the object, expected a list of them, as winnow audit --json writes")
		}
		if key == "images" {
			if first, err = in.Token(); err != nil {
				return err
			}
			break
		}
		if err := pass(in, limit); err != nil {
			return err
		}
	}
	if first != json.Delim('[') {
		return fmt.Errorf("found %.40q, expected a list of images", fmt.Sprint(first))
	}
	var raw json.RawMessage
	for in.More() {
		limit.left = mostOfRow
		if err := in.Decode(&raw); err != nil {
			return err
		}
		if err := into.object(raw); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// pass passes over a value.
func pass(in *json.Decoder, limit *bounded) error {
	for depth := 0; ; {
		limit.left = mostOfRow
		token, err := in.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// asWritten is an entry as Write writes it, with values that can be seen to be missing.
type asWritten struct {
	Suspect
	Score   *float64 `json:"score"`
	Dropped *bool    `json:"dropped"`
}

// object reads a row: as Write writes it in one go, and what others wrote value by value.
func (r *rows) object(raw []byte) error {
	var own asWritten
	if err := json.Unmarshal(raw, &own); err != nil || own.Rank < 1 || own.Path == "" || own.Given == "" || own.Suggested == "" || own.Score == nil {
		return r.foreign(raw)
	}
	e := own.Suspect
	e.Score = *own.Score
	if own.Dropped != nil {
		e.Dropped, r.calls = *own.Dropped, true
	}
	e.Path, e.Given, e.Suggested, e.True = r.same(e.Path), r.same(e.Given), r.same(e.Suggested), r.same(e.True)
	for _, near := range [][]Near{e.SupportGiven, e.SupportSuggested} {
		for i := range near {
			near[i].Path = r.same(near[i].Path)
		}
	}
	for i := range e.Copies {
		e.Copies[i].Path, e.Copies[i].Label = r.same(e.Copies[i].Path), r.same(e.Copies[i].Label)
	}
	return r.take(e)
}

// foreign reads a row whose labels may be numbers and whose keys may go by other names.
func (r *rows) foreign(raw []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return inJSON(err)
	}
	var e Suspect
	for _, c := range columns {
		if c.list {
			continue
		}
		value, found := object[c.name]
		for i := 0; !found && i < len(c.others); i++ {
			value, found = object[c.others[i]]
		}
		if !found && c.needed {
			return fmt.Errorf("found no key %s", c.known())
		}
		if !found {
			continue
		}
		s, err := plain(value)
		if err == nil {
			err = c.set(r, &e, []string{s})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, list := range nearby {
		if err := r.near(object[list.name], list.of(&e)); err != nil {
			return fmt.Errorf("%s: %w", list.name, err)
		}
	}
	if value := object[copies]; value != nil {
		if err := json.Unmarshal(value, &e.Copies); err != nil {
			return fmt.Errorf("%s: %w", copies, inJSON(err))
		}
		for i := range e.Copies {
			e.Copies[i].Path, e.Copies[i].Label = r.same(e.Copies[i].Path), r.same(e.Copies[i].Label)
		}
	}
	return r.take(e)
}

// near reads images close by.
func (r *rows) near(value json.RawMessage, to *[]Near) error {
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value, to); err != nil {
		return inJSON(err)
	}
	for i := range *to {
		(*to)[i].Path = r.same((*to)[i].Path)
	}
	return nil
}

// plain returns a string's value, "" for null, and any other value's own text.
func plain(raw json.RawMessage) (string, error) {
	switch {
	case string(raw) == "null":
		return "", nil
	case raw[0] == '{' || raw[0] == '[':
		return "", fmt.Errorf("found %.40q, expected one value", raw)
	case raw[0] != '"':
		return string(raw), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// inJSON says in short what is wrong.
func inJSON(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("found a %s, expected an object", wrong.Value)
		}
		return fmt.Errorf("%s: found a %s, expected a %s", wrong.Field, wrong.Value, strings.TrimSuffix(wrong.Type.Kind().String(), "64"))
	}
	return err
}
