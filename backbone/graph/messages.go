package graph

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// states reports whether a field is written even if it is 0 or empty: the value of the attribute's own kind.
func (a *Attribute) states(number protowire.Number) bool {
	return number == 2 && a.Kind == KindFloat || number == 3 && a.Kind == KindInt || number == 4 && a.Kind == KindString
}

// tensorFields is the wire form of a TensorProto, whose values are in one of several fields.
type tensorFields struct {
	Dims     []int64    `onnx:"1"`
	Type     DataType   `onnx:"2"`
	Floats   fixed32    `onnx:"4"`
	Int32s   []int64    `onnx:"5"`
	Texts    []string   `onnx:"6"`
	Int64s   []int64    `onnx:"7"`
	Name     string     `onnx:"8"`
	Raw      []byte     `onnx:"9"`
	Doubles  fixed64    `onnx:"10"`
	Uint64s  []int64    `onnx:"11"`
	External []Property `onnx:"13"`
	Location int64      `onnx:"14"` // 1: the values are in another file
	Rest     []byte     `onnx:"rest"`
}

func (t *Tensor) wire() any {
	w := &tensorFields{Dims: t.Dims, Type: t.Type, Texts: t.texts, Name: t.Name, Raw: t.raw, External: t.external,
		Rest: t.rest}
	if t.external != nil {
		w.Location = 1
	}
	return w
}

func (t *Tensor) fromWire(fields any) error {
	w := fields.(*tensorFields)
	*t = Tensor{Name: w.Name, Type: w.Type, Dims: w.Dims, raw: w.Raw, rest: w.Rest}
	forms := 0
	for _, form := range []struct {
		found bool
		take  func()
	}{
		{w.Raw != nil, func() {}}, {w.Floats != nil, func() { t.raw = w.Floats }},
		{w.Doubles != nil, func() { t.raw = w.Doubles }}, {w.Int32s != nil, func() { t.packIntegers(w.Int32s) }},
		{w.Int64s != nil, func() { t.packIntegers(w.Int64s) }},
		{w.Uint64s != nil, func() { t.packIntegers(w.Uint64s) }},
		{w.Texts != nil, func() { t.texts = w.Texts }},
	} {
		if form.found {
			forms++
			form.take()
		}
	}
	if w.Location == 1 { // values in another file, even if no details are given
		t.external = append(make([]Property, 0, len(w.External)), w.External...)
	}
	if t.Type != Text {
		t.texts = nil
	}
	err := t.checkTensor()
	if forms > 1 {
		err = errors.New("values are given in two forms, expected one")
	}
	if err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return nil
}

// packIntegers converts the numbers of int32_data, int64_data and uint64_data to raw form. A number holds an element,
// the bits of an element (float16), or a byte shared by two elements (int4).
func (t *Tensor) packIntegers(list []int64) {
	width := max(int(kinds[t.Type].bits)/8, 1)
	if width > 8 {
		return // checkTensor reports the missing data
	}
	t.raw = make([]byte, 0, width*len(list))
	for _, v := range list {
		t.raw = append(t.raw, binary.LittleEndian.AppendUint64(nil, uint64(v))[:width]...)
	}
}

// infoFields is the wire form of a ValueInfoProto.
type infoFields struct {
	Name string      `onnx:"1"`
	Type *typeFields `onnx:"2"`
	Rest []byte      `onnx:"rest"`
}

type typeFields struct {
	Tensor *tensorTypeFields `onnx:"1"`
	Rest   []byte            `onnx:"rest"`
}

type tensorTypeFields struct {
	Type  DataType     `onnx:"1"`
	Shape *shapeFields `onnx:"2"`
}

type shapeFields struct {
	Dims []dimFields `onnx:"1"`
}

type dimFields struct {
	Size *int64 `onnx:"1"`
	Name string `onnx:"2"`
}

func (v *ValueInfo) wire() any {
	w := &infoFields{Name: v.Name, Rest: v.rest}
	if v.Type == 0 && v.Shape == nil && v.typeRest == nil {
		return w
	}
	w.Type = &typeFields{Rest: v.typeRest}
	if v.Type == 0 && v.Shape == nil {
		return w
	}
	w.Type.Tensor = &tensorTypeFields{Type: v.Type}
	if v.Shape == nil {
		return w
	}
	w.Type.Tensor.Shape = &shapeFields{}
	for _, d := range v.Shape {
		f := dimFields{Name: d.Name}
		if d.Known() {
			f = dimFields{Size: &d.Size}
		}
		w.Type.Tensor.Shape.Dims = append(w.Type.Tensor.Shape.Dims, f)
	}
	return w
}

func (v *ValueInfo) fromWire(fields any) error {
	w := fields.(*infoFields)
	*v = ValueInfo{Name: w.Name, rest: w.Rest}
	if w.Type == nil {
		return nil
	}
	v.typeRest = w.Type.Rest
	if t := w.Type.Tensor; t != nil {
		if v.Type = t.Type; t.Shape != nil {
			v.Shape = Shape{}
			for _, d := range t.Shape.Dims {
				if d.Size != nil && d.Name == "" { // exporters write -1 or other negative numbers for a free size
					v.Shape = append(v.Shape, Dim{Size: max(*d.Size, -1)})
				} else {
					v.Shape = append(v.Shape, Free(d.Name))
				}
			}
		}
	}
	return nil
}
