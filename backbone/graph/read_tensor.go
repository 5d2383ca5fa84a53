package graph

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// readTensor parses a field of a tensor; the values may be in any of several fields.
func (t *Tensor) readTensor(f *field) error {
	var typed []byte     // float_data, double_data
	var integers []int64 // int32_data, int64_data, uint64_data
	var location int64
	var forms uint16 // one bit for each value field seen
	err := f.readMessage(func(f *field) error {
		switch f.number {
		case 4, 5, 6, 7, 9, 10, 11:
			forms |= 1 << f.number
		}
		switch f.number {
		case 1:
			return f.readInts(&t.Dims)
		case 2:
			var v int64
			err := f.readInt(&v)
			t.Type = DataType(min(max(v, 0), math.MaxInt32))
			return err
		case 4:
			return f.readFixed(&typed, 4)
		case 5, 7, 11:
			return f.readInts(&integers)
		case 6:
			return f.readTexts(&t.texts)
		case 8:
			return f.readText(&t.Name)
		case 9:
			t.raw = f.bytes
			return f.wantKind(2)
		case 10:
			return f.readFixed(&typed, 8)
		case 13:
			t.external = append(t.external, Property{})
			return t.external[len(t.external)-1].readProperty(f)
		case 14:
			return f.readInt(&location)
		}
		return f.keepUnknown(&t.rest)
	})
	if err != nil {
		return err
	}
	if location == 1 {
		// External data, even without further details.
		t.external = append(make([]Property, 0, len(t.external)), t.external...)
	} else {
		t.external = nil
	}
	if bits.OnesCount16(forms) > 1 {
		return errors.New("found its values in two forms, expected one")
	}
	if typed != nil {
		t.raw = typed
	} else if integers != nil {
		t.raw = packIntegers(integers, t.Type)
	}
	if t.Type != Text {
		t.texts = nil
	}
	return t.checkTensor()
}

// packIntegers converts the numbers of int32_data, int64_data and uint64_data to raw form. A number is an
// element, the bits of an element (float16), or a byte shared by two elements (int4).
func packIntegers(list []int64, t DataType) []byte {
	width := max(int(kinds[t].bits)/8, 1)
	if width > 8 {
		return nil // check reports what is missing
	}
	raw := make([]byte, 0, width*len(list))
	for _, v := range list {
		for i := range width {
			raw = append(raw, byte(v>>(8*i)))
		}
	}
	return raw
}

func readInfo(f *field, list *[]*ValueInfo, what string) error {
	v := &ValueInfo{}
	*list = append(*list, v)
	if err := v.readValueInfo(f); err != nil {
		return fmt.Errorf("%s %d %q: %w", what, len(*list), v.Name, err)
	}
	return nil
}

func (v *ValueInfo) readValueInfo(f *field) error {
	return f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			return f.readText(&v.Name)
		case 2:
			return f.readMessage(func(f *field) error { // TypeProto
				if f.number == 1 {
					return f.readMessage(v.readTensorType)
				}
				return f.keepUnknown(&v.typeRest)
			})
		}
		return f.keepUnknown(&v.rest)
	})
}

func (v *ValueInfo) readTensorType(f *field) error {
	switch f.number {
	case 1:
		var t int64
		err := f.readInt(&t)
		v.Type = DataType(min(max(t, 0), math.MaxInt32))
		return err
	case 2:
		if v.Shape == nil {
			v.Shape = Shape{}
		}
		return f.readMessage(func(f *field) error {
			if f.number != 1 {
				return nil // the message has no other field
			}
			d, err := readDim(f)
			v.Shape = append(v.Shape, d)
			return err
		})
	}
	return nil // the message has no other field
}

func readDim(f *field) (Dim, error) {
	d := Dim{Size: -1}
	err := f.readMessage(func(f *field) error {
		switch f.number {
		case 1:
			err := f.readInt(&d.Size)
			d.Size, d.Name = max(d.Size, -1), "" // exporters write -1 or other negative numbers for a free size
			return err
		case 2:
			d.Size = -1
			return f.readText(&d.Name)
		}
		return nil // what the size means
	})
	return d, err
}
