package suspects

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"winnow/internal/jsontext"
)

func writeJSONL(w io.Writer, entries []Suspect) error {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	for e := range Summed(entries) {
		if err := to.Encode(e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeJSON writes an object with the list as its images.
func writeJSON(w io.Writer, entries []Suspect) error {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	lead := "{\"images\": [\n"
	for e := range Summed(entries) {
		_, _ = out.WriteString(lead) // Flush returns the error
		if err := to.Encode(e); err != nil {
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
	in := bufio.NewScanner(skipByteOrderMark(r))
	in.Buffer(make([]byte, 0, 1<<16), mostOfRow)
	line := 1
	for ; in.Scan(); line++ {
		row := bytes.TrimSpace(in.Bytes())
		if len(row) == 0 {
			continue
		}
		err := jsontext.Check(row)
		if err == nil {
			err = into.readObject(row)
		}
		if err != nil {
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

// readJSON reads a list, or the images of an object.
func readJSON(r *io.SectionReader, into *rows) error {
	limit := &bounded{r: r, left: mostOfRow}
	in := json.NewDecoder(skipByteOrderMark(limit))
	err := readListEnd(in, limit, into)
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

// readListEnd reads to the end of the list.
func readListEnd(in *json.Decoder, limit *bounded, into *rows) error {
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
			return fmt.Errorf("found no images in the object, expected a list of them")
		}
		if key == "images" {
			if first, err = in.Token(); err != nil {
				return err
			}
			break
		}
		if err := skipValue(in, limit); err != nil {
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
		if err := into.readObject(raw); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// skipValue skips a value.
func skipValue(in *json.Decoder, limit *bounded) error {
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

// readObject reads a row. Labels may be numbers.
func (r *rows) readObject(raw []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return jsontext.Fault(err)
	}
	var e Suspect
	for _, c := range columns {
		if c.list != "" {
			if err := r.readItems(&e, c, object[c.list]); err != nil {
				return fmt.Errorf("%s: %w", c.list, err)
			}
			continue
		}
		value, found := object[c.name]
		for i := 0; !found && i < len(c.others); i++ {
			value, found = object[c.others[i]]
		}
		if !found && c.needed {
			return fmt.Errorf("found no key %s", c.listKnownNames())
		}
		if !found {
			continue
		}
		s, err := readPlainText(value)
		if err == nil {
			err = c.set(r, &e, 0, s)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return r.passRow(e)
}

// readItems reads all parts of a list, once for its leading column.
func (r *rows) readItems(e *Suspect, c column, raw []byte) error {
	if raw == nil || !c.isLeadingColumn() {
		return nil
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return jsontext.Fault(err)
	}
	for k, item := range list {
		for _, c := range parts[c.list] {
			value, found := item[c.part]
			if !found {
				continue
			}
			s, err := readPlainText(value)
			if err == nil {
				err = c.set(r, e, k, s)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.part, err)
			}
		}
	}
	return nil
}

// readPlainText returns the value of a string, "" for null, and the text of any other single value.
func readPlainText(raw json.RawMessage) (string, error) {
	if raw[0] == '{' || raw[0] == '[' {
		return "", fmt.Errorf("found %.40q, expected one value", raw)
	}
	return jsontext.Plain(raw)
}
