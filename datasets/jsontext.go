package datasets

import (
	"bytes"
	"encoding/json"
)

// plainJSON returns a JSON string's value, "" for null or nothing, and the JSON text of any other value.
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

// listJSONKeys lists the keys of a JSON object with this beginning, each with the first byte of its value, as far as
// the beginning goes; nil if it is no object.
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

// editMember returns an object with the values of a key replaced by what change returns. The order of keys and all
// other values stay; anything other than an object is returned as it is.
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

// editElements returns a list whose elements are those that change returns, without those for which that is nil.
// Anything other than a list is returned as it is.
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

// quoteJSON returns a text as JSON.
func quoteJSON(text string) json.RawMessage {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(text) // cannot fail: a string, into a buffer
	return bytes.TrimSpace(out.Bytes())
}
