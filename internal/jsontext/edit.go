package jsontext

import (
	"bytes"
	"encoding/json"
)

// EditMember returns an object with the values of a key replaced by what change returns, without the member if that is
// nil. The order of keys and all other values stay; anything other than an object is returned as it is.
func EditMember(object json.RawMessage, key string, change func(was json.RawMessage) json.RawMessage) json.RawMessage {
	return EditMembers(object, func(name string, was json.RawMessage) json.RawMessage {
		if name != key {
			return was
		}
		return change(was)
	})
}

// EditMembers is [EditMember] of all members.
func EditMembers(object json.RawMessage, change func(key string, was json.RawMessage) json.RawMessage) json.RawMessage {
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
		if value = change(name.(string), value); value != nil {
			out = appendMember(out, name.(string), value)
		}
	}
	return append(out, '}')
}

// AddMember returns an object with one more member at its end.
func AddMember(object json.RawMessage, key string, value json.RawMessage) json.RawMessage {
	object = bytes.TrimRight(object, " \t\r\n")
	return append(appendMember(bytes.Clone(object[:len(object)-1]), key, value), '}')
}

func appendMember(out []byte, key string, value json.RawMessage) []byte {
	if len(bytes.TrimRight(out, " \t\r\n")) > 1 {
		out = append(out, ", "...)
	}
	return append(append(append(out, Quote(key)...), ": "...), value...)
}

// EditElements returns a list whose elements are those that change returns, without those for which that is nil.
// Anything other than a list is returned as it is.
func EditElements(list json.RawMessage, change func(n int, was json.RawMessage) json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil || all == nil {
		return list
	}
	out := []byte("[")
	for n, was := range all {
		if value := change(n, was); value != nil {
			if len(out) > 1 {
				out = append(out, ", "...)
			}
			out = append(out, value...)
		}
	}
	return append(out, ']')
}

// Member returns the value of an object's key, the last if there are several; nil: there is none.
func Member(object json.RawMessage, key string) (found json.RawMessage) {
	EditMember(object, key, func(was json.RawMessage) json.RawMessage {
		found = was
		return was
	})
	return found
}

// Elements returns the elements of a list, nil of another value.
func Elements(list json.RawMessage) (all []json.RawMessage) {
	if json.Unmarshal(list, &all) != nil {
		return nil
	}
	return all
}

// Quote returns a text as JSON.
func Quote(text string) json.RawMessage {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	_ = to.Encode(text) // cannot fail: a string, into a buffer
	return bytes.TrimSpace(out.Bytes())
}

// Like returns an edited file with the end of the last line of the file that was edited, and with its indentation if
// all of it is indented.
func Like(edited, was []byte) []byte {
	end := was[len(bytes.TrimRight(was, " \t\r\n")):]
	_, after, _ := bytes.Cut(was, []byte("\n"))
	indent := after[:len(after)-len(bytes.TrimLeft(after, " \t"))]
	var before, out bytes.Buffer
	if len(indent) > 0 && json.Indent(&before, was, "", string(indent)) == nil &&
		bytes.Count(before.Bytes(), []byte("\n")) == bytes.Count(was, []byte("\n")) &&
		json.Indent(&out, edited, "", string(indent)) == nil {
		edited = out.Bytes()
	}
	return append(bytes.TrimRight(edited, " \t\r\n"), end...)
}
