package graph

import "strconv"

// DataType is the type of a tensor's elements, numbered as in ONNX.
type DataType int32

// ONNX's element types.
const (
	Float32        DataType = 1
	Uint8          DataType = 2
	Int8           DataType = 3
	Uint16         DataType = 4
	Int16          DataType = 5
	Int32          DataType = 6
	Int64          DataType = 7
	Text           DataType = 8
	Bool           DataType = 9
	Float16        DataType = 10
	Float64        DataType = 11
	Uint32         DataType = 12
	Uint64         DataType = 13
	Complex64      DataType = 14
	Complex128     DataType = 15
	BFloat16       DataType = 16
	Float8E4M3FN   DataType = 17
	Float8E4M3FNUZ DataType = 18
	Float8E5M2     DataType = 19
	Float8E5M2FNUZ DataType = 20
	Uint4          DataType = 21
	Int4           DataType = 22
	Float4E2M1     DataType = 23
	Float8E8M0     DataType = 24
)

// kinds holds the name of each type and the bits of one element (0: variable length).
var kinds = map[DataType]struct {
	name string
	bits int64
}{
	Float32: {"float32", 32}, Uint8: {"uint8", 8}, Int8: {"int8", 8}, Uint16: {"uint16", 16}, Int16: {"int16", 16},
	Int32: {"int32", 32}, Int64: {"int64", 64}, Text: {"string", 0}, Bool: {"bool", 8}, Float16: {"float16", 16},
	Float64: {"float64", 64}, Uint32: {"uint32", 32}, Uint64: {"uint64", 64}, Complex64: {"complex64", 64},
	Complex128: {"complex128", 128}, BFloat16: {"bfloat16", 16}, Float8E4M3FN: {"float8e4m3fn", 8},
	Float8E4M3FNUZ: {"float8e4m3fnuz", 8}, Float8E5M2: {"float8e5m2", 8}, Float8E5M2FNUZ: {"float8e5m2fnuz", 8},
	Uint4: {"uint4", 4}, Int4: {"int4", 4}, Float4E2M1: {"float4e2m1", 4}, Float8E8M0: {"float8e8m0", 8},
}

// String returns the name of the type, in Go's spelling if Go has the type.
func (t DataType) String() string {
	if k, ok := kinds[t]; ok {
		return k.name
	}
	if t == 0 {
		return "?"
	}
	return "type " + strconv.Itoa(int(t))
}

// Floating reports whether elements are floating-point numbers of 16 bits or more.
func (t DataType) Floating() bool {
	return t == Float32 || t == Float64 || t == Float16 || t == BFloat16
}

// rawBytes returns the size in bytes of n elements in raw form. Two elements of 4 bits share a byte.
func (t DataType) rawBytes(n int64) int64 {
	bits := kinds[t].bits
	if bits < 8 {
		return (n*bits + 7) / 8
	}
	return n * (bits / 8)
}
