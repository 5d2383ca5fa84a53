// Package jsontext reads JSON values as text and the lists of an object element by element, and says where JSON
// is broken.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Plain returns a JSON string's value, "" for null or nothing, and the JSON text of any other value.
func Plain(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	inside := raw[1:]
	ends := len(inside) > 0 && bytes.IndexByte(inside, '"') == len(inside)-1
	if ends && bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
		return string(inside[:len(inside)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// Keys lists the keys of a JSON object with this beginning, each with the first byte of its value, as far as the
// beginning goes; nil if it is no object.
func Keys(head []byte) map[string]byte {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	in := json.NewDecoder(bytes.NewReader(head))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	keys := map[string]byte{}
	for in.More() {
		t, err := in.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			break
		}
		rest := bytes.TrimLeft(head[min(int(in.InputOffset()), len(head)):], " \t\r\n:")
		if len(rest) > 0 {
			keys[key] = rest[0]
		}
		var value json.RawMessage
		if in.Decode(&value) != nil {
			break
		}
	}
	return keys
}

// Broken adds to an error of JSON where it occurs.
func Broken(in *json.Decoder, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends early, at byte %d", in.InputOffset())
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("byte %d: %w", in.InputOffset(), s)
	}
	return err
}

// Open reads the delimiter that begins a value. expected describes the value for errors.
func Open(in *json.Decoder, begin json.Delim, expected string) error {
	t, err := in.Token()
	if in.InputOffset() == 0 && errors.As(err, new(*json.SyntaxError)) {
		return fmt.Errorf("is not JSON; expected %s", expected)
	}
	if err != nil {
		return fmt.Errorf("%w; expected %s", Broken(in, err), expected)
	}
	if t != begin {
		return fmt.Errorf("found %v, expected %s", t, expected)
	}
	return nil
}

// Close reads the delimiter that ends the file's value, and returns an error if anything follows.
func Close(in *json.Decoder, what string) error {
	if _, err := in.Token(); err != nil {
		return Broken(in, err)
	}
	t, err := in.Token()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return Broken(in, err)
	}
	return fmt.Errorf("found %v after the %s, expected nothing", t, what)
}

// Each reads the lists of a file that is one JSON object: take decodes the n-th element of a list. Other values
// are skipped.
func Each(in *json.Decoder, expected string, take func(list string, n int) error) error {
	if err := Open(in, '{', expected); err != nil {
		return err
	}
	lists := map[json.Token]bool{}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return Broken(in, err)
		}
		if key := key.(string); lists[key] {
			return fmt.Errorf("%.80s appears twice, expected one list", key)
		}
		lists[key] = true
		value, err := in.Token()
		if err == nil && value == json.Delim('[') {
			for n := 0; in.More(); n++ {
				if err := take(key.(string), n); err != nil {
					return fmt.Errorf("%.80s[%d]: %w", key, n, Broken(in, err))
				}
			}
			_, err = in.Token()
		} else if value == json.Delim('{') {
			err = skipObject(in)
		}
		if err != nil {
			return Broken(in, err)
		}
	}
	return Close(in, "object")
}

// skipObject skips to the end of an object that has begun.
func skipObject(in *json.Decoder) error {
	for depth := 1; depth > 0; {
		t, err := in.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// Check returns an error that says where text is no JSON value.
func Check(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	var any json.RawMessage
	return Fault(json.Unmarshal(text, &any))
}

// Fault adds where JSON is broken, and which field holds another kind of value. Other errors stay.
func Fault(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := ""
		if wrong.Field != "" {
			at = wrong.Field + ": "
		}
		return fmt.Errorf("%sfound JSON's %s, expected %s", at, wrong.Value, wrong.Type.Kind())
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("ends early, expected whole JSON")
	}
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is no JSON: byte %d: %w", broken.Offset, broken)
	}
	return err
}
