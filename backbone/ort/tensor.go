package ort

import (
	"fmt"
	"slices"
	"strings"

	ortgo "github.com/yalue/onnxruntime_go"
)

// ElementType is the type of a tensor's elements, numbered as in onnx.proto.
type ElementType int

// The element types that a Tensor can hold.
const (
	Float  ElementType = 1
	Uint8  ElementType = 2
	Int64  ElementType = 7
	Double ElementType = 11
)

// String returns the name of the type for messages.
func (t ElementType) String() string {
	switch t {
	case 0:
		return "unknown"
	case Float:
		return "float32"
	case Uint8:
		return "uint8"
	case Int64:
		return "int64"
	case Double:
		return "float64"
	}
	name := ortgo.TensorElementDataType(t).String()
	return strings.ToLower(strings.TrimPrefix(name, "ONNX_TENSOR_ELEMENT_DATA_TYPE_"))
}

// Tensor is a row-major array: a shape (empty for a scalar) and exactly one of the four slices. In an output all four
// may be nil: the runtime then allocates it, and Run sets shape and slice.
type Tensor struct {
	Shape []int64
	F32   []float32
	F64   []float64
	I64   []int64
	U8    []uint8
}

// Float32s returns a tensor that uses data without a copy.
func Float32s(data []float32, shape ...int64) Tensor { return Tensor{Shape: shape, F32: data} }

// Float64s returns a tensor that uses data without a copy.
func Float64s(data []float64, shape ...int64) Tensor { return Tensor{Shape: shape, F64: data} }

// Int64s returns a tensor that uses data without a copy.
func Int64s(data []int64, shape ...int64) Tensor { return Tensor{Shape: shape, I64: data} }

// Type returns the element type, or 0 if no slice is set.
func (t Tensor) Type() ElementType {
	switch {
	case t.F32 != nil:
		return Float
	case t.F64 != nil:
		return Double
	case t.I64 != nil:
		return Int64
	case t.U8 != nil:
		return Uint8
	}
	return 0
}

// slot is the library's view of one input or output. It is kept between runs and allocates nothing if memory and shape
// are the same. The view keeps its slice alive, so that the address cannot be reused for other memory.
type slot struct {
	value  ortgo.Value
	tensor Tensor
}

// holdValue makes the slot's value the library's view of t.
func (s *slot) holdValue(t Tensor) error {
	if s.value != nil && s.tensor.isSameTensor(t) {
		return nil
	}
	s.dropValue()
	if len(t.Shape) == 0 {
		return s.holdScalar(t)
	}
	var err error
	switch t.Type() {
	case Float:
		s.value, err = wrapSlice(t.Shape, t.F32)
	case Double:
		s.value, err = wrapSlice(t.Shape, t.F64)
	case Int64:
		s.value, err = wrapSlice(t.Shape, t.I64)
	case Uint8:
		s.value, err = wrapSlice(t.Shape, t.U8)
	default:
		return fmt.Errorf("the tensor of shape %v has no data", t.Shape)
	}
	if err != nil {
		return err
	}
	s.tensor = t
	s.tensor.Shape = slices.Clone(t.Shape) // a copy: the caller may overwrite its shape
	return nil
}

// wrapSlice makes a value of the library from a slice. The slice must have exactly the shape's length, so that a wrong
// shape cannot read only a part of the slice.
func wrapSlice[T float32 | float64 | int64 | uint8](shape []int64, data []T) (ortgo.Value, error) {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	if n != int64(len(data)) {
		return nil, fmt.Errorf("shape %v has %d elements, but the slice has %d", shape, n, len(data))
	}
	t, err := ortgo.NewTensor(ortgo.Shape(shape), data)
	if err != nil {
		return nil, err // not t: a nil pointer in an interface is not a nil interface
	}
	return t, nil
}

// holdScalar makes a view of a tensor of rank 0, which the wrapper keeps in its own memory. Inputs are copied here;
// copyScalar copies outputs back. Scalars are not reused.
func (s *slot) holdScalar(t Tensor) error {
	var err error
	switch {
	case len(t.F32) == 1:
		s.value, err = wrapScalar(t.F32[0])
	case len(t.F64) == 1:
		s.value, err = wrapScalar(t.F64[0])
	case len(t.I64) == 1:
		s.value, err = wrapScalar(t.I64[0])
	default:
		return fmt.Errorf("a scalar needs exactly one element")
	}
	return err
}

func wrapScalar[T float32 | float64 | int64](x T) (ortgo.Value, error) {
	v, err := ortgo.NewScalar(x)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// copyScalar copies a scalar output back into t.
func (s *slot) copyScalar(t Tensor) {
	switch v := s.value.(type) {
	case *ortgo.Scalar[float32]:
		t.F32[0] = v.GetData()
	case *ortgo.Scalar[float64]:
		t.F64[0] = v.GetData()
	case *ortgo.Scalar[int64]:
		t.I64[0] = v.GetData()
	}
}

// dropValue releases the view. The library cannot fail to release a value.
func (s *slot) dropValue() {
	if s.value != nil {
		_ = s.value.Destroy()
	}
	*s = slot{}
}

func (t Tensor) isSameTensor(u Tensor) bool {
	return slices.Equal(t.Shape, u.Shape) && len(t.Shape) > 0 &&
		sameSlice(t.F32, u.F32) && sameSlice(t.F64, u.F64) && sameSlice(t.I64, u.I64) && sameSlice(t.U8, u.U8)
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// takeTensor reads a tensor that the runtime allocated. The wrapper has already copied the data into Go's memory.
func takeTensor(v ortgo.Value) (Tensor, error) {
	t := Tensor{Shape: []int64(v.GetShape())}
	switch v := v.(type) {
	case *ortgo.Tensor[float32]:
		t.F32 = v.GetData()
	case *ortgo.Tensor[float64]:
		t.F64 = v.GetData()
	case *ortgo.Tensor[int64]:
		t.I64 = v.GetData()
	case *ortgo.Tensor[uint8]:
		t.U8 = v.GetData()
	default:
		return Tensor{}, fmt.Errorf("the output's type is not float32, float64, int64 or uint8")
	}
	return t, nil
}
