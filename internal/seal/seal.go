// Package seal appends a checksum to a JSON object, so that a single changed bit is found when the file is read. It
// imports no other package of winnow.
package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// The last field of a sealed object is the CRC-32C of all bytes before the comma that precedes the field.
const (
	before = ",\n  \"checksum\": \""
	after  = "\"\n}\n"
	digits = 8
)

// length is the length of a seal in bytes.
const length = len(before) + digits + len(after)

// Marshal returns a struct as an indented and sealed JSON object with a final newline.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	body, ok := bytes.CutSuffix(b.Bytes(), []byte("\n}\n"))
	if !ok {
		return nil, fmt.Errorf("%T is not an object with fields", v)
	}
	return fmt.Appendf(body, "%s%0*x%s", before, digits, crc32.Checksum(body, castagnoli), after), nil
}

// ErrChanged is the error for a file that was changed after writing, ErrShort for a truncated file.
var (
	ErrChanged = errors.New("has changed since it was written: its checksum does not fit")
	ErrShort   = errors.New("is empty or cut short")
)

// Unmarshal reads an object written by [Marshal]. An object without a seal, as written by an earlier winnow, must not
// have an unknown field, because that may be a damaged seal.
func Unmarshal(data []byte, v any) error {
	if at := len(data) - length; at >= 0 && bytes.HasPrefix(data[at:], []byte(before)) &&
		bytes.HasSuffix(data, []byte(after)) {
		if fmt.Sprintf("%0*x", digits, crc32.Checksum(data[:at], castagnoli)) !=
			string(data[at+len(before):len(data)-len(after)]) {
			return ErrChanged
		}
		return json.Unmarshal(data, v)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return errors.New("found more data after the object, expected the end of the file")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrShort
	}
	return err
}
