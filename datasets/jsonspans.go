package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
)

// errNotObject says that a value of JSON is no object.
var errNotObject = errors.New("found another value, expected an object")

// eachKey reads an object; read reads the value of a key.
func eachKey(in *json.Decoder, read func(key string) error) error {
	return eachKeyFrom(in, func(key string, _ int64) error { return read(key) })
}

// eachKeyFrom is [eachKey] with the end of the value before each key.
func eachKeyFrom(in *json.Decoder, read func(key string, from int64) error) error {
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return errNotObject
	}
	for from := in.InputOffset(); in.More(); from = in.InputOffset() {
		key, err := in.Token()
		if err == nil {
			err = read(key.(string), from)
		}
		if err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

// eachElement reads a list, which may be null, with where each element is, from the end of the one before. at is the
// position at which the decoder began.
func eachElement(in *json.Decoder, at int64, take func(raw json.RawMessage, all span) error) error {
	t, err := in.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errors.New("found another value, expected a list")
	}
	for from := in.InputOffset(); in.More(); from = in.InputOffset() {
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return err
		}
		if err := take(raw, span{at + from, at + in.InputOffset()}); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// valueOf returns where the value of a key of an object is, of two the last; at is the position of the object.
func valueOf(object []byte, key string, at int64) (where span) {
	in := json.NewDecoder(bytes.NewReader(object))
	_ = eachKey(in, func(name string) error {
		var raw json.RawMessage
		err := in.Decode(&raw)
		if name == key {
			where = span{at + in.InputOffset() - int64(len(raw)), at + in.InputOffset()}
		}
		return err
	})
	return where
}

// jsonText returns a label as JSON writes it.
func jsonText(_ *subject, label string, _ []byte) ([]byte, error) { return quoted(label), nil }
