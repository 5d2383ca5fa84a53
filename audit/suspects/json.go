package suspects

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

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
	in := bufio.NewScanner(unmarked(r))
	in.Buffer(make([]byte, 0, 1<<16), mostOfRow)
	line := 1
	for ; in.Scan(); line++ {
		row := bytes.TrimSpace(in.Bytes())
		if len(row) == 0 {
			continue
		}
		err := jsontext.Check(row)
		if err == nil {
			err = into.object(row)
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
			return fmt.Errorf("found no images in the object, expected a list of them")
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

// pass skips a value.
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

// keys are the names in JSON that hold something of a row.
var keys = func() map[string]string {
	m := map[string]string{}
	for _, c := range columns {
		for _, name := range append([]string{cmp.Or(c.list, c.name)}, c.others...) {
			m[name] = name
		}
	}
	return m
}()

// object reads a row from sound JSON. Labels may be numbers.
func (r *rows) object(raw []byte) error {
	if r.values == nil {
		r.values = map[string][]byte{}
	}
	object := r.values
	clear(object)
	if string(raw) != "null" {
		err := each(raw, '{', func(key, value []byte) error {
			if name, ok := keys[string(key)]; ok {
				object[name] = value
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var e Suspect
	for _, c := range columns {
		if c.list != "" {
			if err := r.items(&e, c, object[c.list]); err != nil {
				return fmt.Errorf("%s: %w", c.list, err)
			}
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
			err = c.set(r, &e, 0, s)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return r.take(e)
}

// items reads all parts of a list, once for its leading column.
func (r *rows) items(e *Suspect, c column, list []byte) error {
	if list == nil || string(list) == "null" || !c.leads() {
		return nil
	}
	k := -1
	return each(list, '[', func(_, item []byte) error {
		if k++; string(item) == "null" {
			return nil
		}
		return each(item, '{', func(key, value []byte) error {
			for _, c := range parts[c.list] {
				if c.part != string(key) {
					continue
				}
				s, err := plain(value)
				if err == nil {
					err = c.set(r, e, k, s)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", c.part, err)
				}
			}
			return nil
		})
	})
}

// each yields the values of a sound list or object, which begins with begin, and the keys of an object. They are parts
// of raw.
func each(raw []byte, begin byte, yield func(key, value []byte) error) error {
	if raw[0] != begin {
		return fmt.Errorf("found %s, expected %s", kind(raw[0]), kind(begin))
	}
	for rest := between(raw[1:]); rest[0] != '}' && rest[0] != ']'; {
		var key []byte
		if begin == '{' {
			n := ends(rest)
			if key = rest[1 : n-1]; bytes.IndexByte(key, '\\') >= 0 {
				s, err := plain(rest[:n])
				if err != nil {
					return err
				}
				key = []byte(s)
			}
			rest = between(rest[n:])
		}
		n := ends(rest)
		if err := yield(key, rest[:n]); err != nil {
			return err
		}
		rest = between(rest[n:])
	}
	return nil
}

// between skips what stands between keys and values.
func between(rest []byte) []byte {
	for i, c := range rest {
		switch c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			return rest[i:]
		}
	}
	return nil
}

// ends returns the length of the value that sound JSON begins with.
func ends(rest []byte) int {
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			for i++; rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 { // behind a number, true, false or null
				return i
			}
			depth--
		case ' ', '\t', '\r', '\n', ',':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(rest)
}

// kind names a value by its first character.
func kind(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a truth value"
	case 'n':
		return "null"
	}
	return "a number"
}

// plain returns the value of a string, "" for null, and the text of any other single value.
func plain(raw []byte) (string, error) {
	switch {
	case string(raw) == "null":
		return "", nil
	case raw[0] == '{' || raw[0] == '[':
		return "", fmt.Errorf("found %.40q, expected one value", raw)
	case raw[0] != '"':
		return string(raw), nil
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}
