// Package mattest writes level 5 MAT-files for tests.
package mattest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"math"

	"winnow/datasets/matfile"
)

// Order is binary.LittleEndian or binary.BigEndian.
type Order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// Options say how to write a file.
type Options struct {
	Order    Order // nil means little endian
	Compress bool
}

// File returns a file with these variables. Numbers are written as doubles, text as 16-bit characters.
func File(o Options, list ...*matfile.Array) []byte {
	if o.Order == nil {
		o.Order = binary.LittleEndian
	}
	var head [128]byte
	copy(head[:], bytes.Repeat([]byte(" "), 124))
	copy(head[:], "MATLAB 5.0 MAT-file")
	o.Order.PutUint16(head[124:], 0x0100)
	o.Order.PutUint16(head[126:], 'M'<<8|'I')
	out := head[:]
	for _, a := range list {
		e := o.array(a)
		if o.Compress {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			w.Write(e)
			w.Close()
			e = append(o.tag(15, z.Len()), z.Bytes()...)
		}
		out = append(out, e...)
	}
	return out
}

// Numbers returns a row of numbers.
func Numbers(name string, list ...float64) *matfile.Array {
	return &matfile.Array{Name: name, Class: matfile.Double, Dims: []int{1, len(list)}, Numbers: list}
}

// Text returns a char array of one row.
func Text(text string) *matfile.Array {
	return &matfile.Array{Class: matfile.Char, Dims: []int{1, len([]rune(text))}, Text: text}
}

// Texts returns a cell row of texts.
func Texts(name string, list ...string) *matfile.Array {
	a := &matfile.Array{Name: name, Class: matfile.Cell, Dims: []int{1, len(list)}, Cells: []*matfile.Array{}}
	for _, text := range list {
		a.Cells = append(a.Cells, Text(text))
	}
	return a
}

// Struct returns a row of elements, each with a value for each field.
func Struct(name string, fields []string, elements ...[]*matfile.Array) *matfile.Array {
	a := &matfile.Array{Name: name, Class: matfile.Struct, Dims: []int{1, len(elements)}, Fields: fields,
		Cells: []*matfile.Array{}}
	for _, e := range elements {
		a.Cells = append(a.Cells, e...)
	}
	return a
}

func (o Options) tag(kind, size int) []byte {
	return o.Order.AppendUint32(o.Order.AppendUint32(nil, uint32(kind)), uint32(size))
}

// element returns a padded element; short data goes into the tag.
func (o Options) element(kind int, data []byte) []byte {
	if n := len(data); n > 0 && n <= 4 {
		return append(o.Order.AppendUint32(nil, uint32(n<<16|kind)), append(data, make([]byte, 4-n)...)...)
	}
	e := append(o.tag(kind, len(data)), data...)
	return append(e, make([]byte, -len(e)&7)...)
}

func (o Options) array(a *matfile.Array) []byte {
	flags := uint32(a.Class)
	if a.Imag != nil {
		flags |= 0x0800
	}
	body := o.element(6, o.Order.AppendUint32(o.Order.AppendUint32(nil, flags), 0))
	var dims []byte
	for _, d := range a.Dims {
		dims = o.Order.AppendUint32(dims, uint32(d))
	}
	body = append(append(body, o.element(5, dims)...), o.element(1, []byte(a.Name))...)
	switch a.Class {
	case matfile.Char:
		var text []byte
		for _, c := range a.Text {
			text = o.Order.AppendUint16(text, uint16(c))
		}
		body = append(body, o.element(4, text)...)
	case matfile.Cell, matfile.Struct:
		if a.Class == matfile.Struct {
			names := make([]byte, 32*len(a.Fields))
			for i, f := range a.Fields {
				copy(names[32*i:], f)
			}
			body = append(append(body, o.element(5, o.Order.AppendUint32(nil, 32))...), o.element(1, names)...)
		}
		for _, c := range a.Cells {
			body = append(body, o.array(c)...)
		}
	default:
		body = append(body, o.doubles(a.Numbers)...)
		if a.Imag != nil {
			body = append(body, o.doubles(a.Imag)...)
		}
	}
	return o.element(14, body)
}

func (o Options) doubles(list []float64) []byte {
	var b []byte
	for _, v := range list {
		b = o.Order.AppendUint64(b, math.Float64bits(v))
	}
	return o.element(9, b)
}
