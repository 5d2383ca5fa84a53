package datasets

import (
	"bytes"
	"encoding/json"
)

// plainJSON returns the value of a JSON string, "" for null or empty input, and the JSON text of any other value.
func plainJSON(raw json.RawMessage) (text string, err error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return "", nil
	case raw[0] != '"':
		return string(raw), nil
	}
	err = json.Unmarshal(raw, &text)
	return text, err
}

// listJSONKeys maps the keys of a JSON object to the first byte of their values. head may be cut off; then only the
// keys in head are listed. The result is nil if head is not an object.
func listJSONKeys(head []byte) map[string]byte {
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

// editMember returns the object with each value of key replaced by change. Other values and the order of keys stay the
// same. Anything other than an object is returned unchanged.
func editMember(object json.RawMessage, key string, change func(was json.RawMessage) json.RawMessage) json.RawMessage {
	in := json.NewDecoder(bytes.NewReader(object))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return object
	}
	out := []byte("{")
	for in.More() {
		name, err := in.Token()
		var value json.RawMessage
		if err == nil {
			err = in.Decode(&value)
		}
		if err != nil {
			return object
		}
		if name == key {
			value = change(value)
		}
		out = appendMember(out, name.(string), value)
	}
	return append(out, '}')
}

func appendMember(out []byte, key string, value json.RawMessage) []byte {
	if len(bytes.TrimRight(out, " \t\r\n")) > 1 {
		out = append(out, ", "...)
	}
	return append(append(append(out, quoteJSON(key)...), ": "...), value...)
}

// editElements returns a list of what change returns for each element, omitting nil results. Anything other than a list
// is returned unchanged.
func editElements(list json.RawMessage, change func(n int, was json.RawMessage) json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil || all == nil {
		return list
	}
	out := []byte("[")
	for n, was := range all {
		if value := change(n, was); value != nil {
			if len(out) > 1 {
				out = append(out, ",\n"...)
			}
			out = append(out, value...)
		}
	}
	return append(out, ']')
}

// quoteJSON returns a text as a JSON string.
func quoteJSON(text string) json.RawMessage {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(text) // encoding a string into a buffer cannot fail
	return bytes.TrimSpace(out.Bytes())
}
