package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a protobuf message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	num    uint64 // of a varint or a fixed-size number
	bytes  []byte // of a length-delimited field
	whole  []byte // key and value, as in the message
}

// visitFields calls visit with the fields of a message, in order.
func visitFields(message []byte, visit func(f *field) error) error {
	var f field
	for at := message; len(at) > 0; {
		n, err := f.parseField(at)
		if err != nil {
			return err
		}
		if err := visit(&f); err != nil {
			return err
		}
		at = at[n:]
	}
	return nil
}

// parseField reads the field at the start of b and returns its length.
func (f *field) parseField(b []byte) (int, error) {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 {
		return 0, wireError(n)
	}
	*f = field{number: number, kind: kind}
	value := b[n:]
	var m int
	switch kind {
	case protowire.VarintType:
		f.num, m = protowire.ConsumeVarint(value)
	case protowire.Fixed32Type:
		var v uint32
		v, m = protowire.ConsumeFixed32(value)
		f.num = uint64(v)
	case protowire.Fixed64Type:
		f.num, m = protowire.ConsumeFixed64(value)
	case protowire.BytesType:
		length, k := protowire.ConsumeVarint(value)
		if k >= 0 && length > uint64(len(value)-k) {
			return 0, fmt.Errorf("cut short: field %d has %d bytes, found %d", number, length, len(value)-k)
		}
		f.bytes, m = protowire.ConsumeBytes(value)
	default: // groups, which ONNX does not use
		return 0, errors.New("this is not an ONNX model")
	}
	if m < 0 {
		return 0, fmt.Errorf("field %d: %w", number, wireError(m))
	}
	f.whole = b[:n+m]
	return n + m, nil
}

func wireError(n int) error {
	err := protowire.ParseError(n)
	if err.Error() == "unexpected EOF" {
		return errors.New("cut short in the middle of a number")
	}
	return fmt.Errorf("this is not an ONNX model (%w)", err)
}

// wantKind checks the field's wire type.
func (f *field) wantKind(kind protowire.Type) error {
	if f.kind != kind {
		return fmt.Errorf("field %d: found wire type %d, expected %d", f.number, f.kind, kind)
	}
	return nil
}

// readText reads a string (in ONNX effectively a byte string; its encoding is not checked).
func (f *field) readText(dst *string) error {
	*dst = string(f.bytes)
	return f.wantKind(protowire.BytesType)
}

func (f *field) readTexts(dst *[]string) error {
	*dst = append(*dst, string(f.bytes))
	return f.wantKind(protowire.BytesType)
}

func (f *field) readInt(dst *int64) error {
	*dst = int64(f.num)
	return f.wantKind(protowire.VarintType)
}

func (f *field) readFloat(dst *float32) error {
	*dst = math.Float32frombits(uint32(f.num))
	return f.wantKind(protowire.Fixed32Type)
}

// readInts reads repeated integers, packed or one by one.
func (f *field) readInts(dst *[]int64) error {
	if f.kind == protowire.VarintType {
		*dst = append(*dst, int64(f.num))
		return nil
	}
	if err := f.wantKind(protowire.BytesType); err != nil {
		return err
	}
	if *dst == nil {
		*dst = make([]int64, 0, countVarints(f.bytes))
	}
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return fmt.Errorf("field %d: %w", f.number, wireError(n))
		}
		*dst = append(*dst, int64(v))
		b = b[n:]
	}
	return nil
}

// countVarints counts the numbers in a packed field: each ends with a byte below 0x80.
func countVarints(b []byte) (count int) {
	for _, c := range b {
		if c < 0x80 {
			count++
		}
	}
	return count
}

// readFloats reads repeated float32s.
func (f *field) readFloats(dst *[]float32) error {
	var raw []byte
	err := f.readFixed(&raw, 4)
	for ; err == nil && len(raw) > 0; raw = raw[4:] {
		*dst = append(*dst, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return err
}

// readFixed appends repeated numbers of 4 or 8 bytes in little-endian form, packed or one by one. The first packed ones
// are not copied.
func (f *field) readFixed(dst *[]byte, width int) error {
	b := f.bytes
	switch {
	case f.kind == protowire.Fixed32Type && width == 4, f.kind == protowire.Fixed64Type && width == 8:
		b = f.whole[len(f.whole)-width:]
	case f.kind != protowire.BytesType:
		return f.wantKind(protowire.BytesType)
	case len(b)%width != 0:
		return fmt.Errorf("field %d: found %d bytes, expected a multiple of %d", f.number, len(b), width)
	}
	if len(*dst) == 0 {
		*dst = b[:len(b):len(b)]
	} else {
		*dst = append(*dst, b...)
	}
	return nil
}

// keepUnknown adds an unknown field to the rest.
func (f *field) keepUnknown(rest *[]byte) error {
	*rest = append(*rest, f.whole...)
	return nil
}
