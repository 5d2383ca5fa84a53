package graph

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Tensor is a constant array: an initializer, or the value of an attribute. Its elements are in ONNX's raw form
// (little-endian, row-major), even if the file uses the typed form.
type Tensor struct {
	Name string
	Type DataType
	Dims []int64

	raw      []byte
	texts    []string   // elements of a Text tensor
	external []Property // location of values in another file
	rest     []byte
}

// maxElements limits the number of elements of one tensor; files hold far fewer.
const maxElements = 1 << 40

// Size returns the number of elements.
func (t *Tensor) Size() (int64, error) {
	n := int64(1)
	for _, d := range t.Dims {
		if d < 0 || (d > 0 && n > maxElements/d) {
			return 0, fmt.Errorf("dims %v: expected sizes ≥ 0 with at most 2⁴⁰ elements", t.Dims)
		}
		n *= d
	}
	return n, nil
}

// External returns the file that holds the tensor's values, or "" if they are in the model.
func (t *Tensor) External() string {
	if t.external == nil {
		return ""
	}
	for _, p := range t.external {
		if p.Key == "location" {
			return p.Value
		}
	}
	return "(unnamed)"
}

// Raw returns the elements as bytes. The caller must not change them.
func (t *Tensor) Raw() []byte { return t.raw }

// checkTensor checks the data against type and dims.
func (t *Tensor) checkTensor() error {
	n, err := t.Size()
	if err != nil {
		return err
	}
	if _, ok := kinds[t.Type]; !ok {
		return fmt.Errorf("element %v is not known", t.Type)
	}
	if t.external != nil {
		return nil
	}
	if t.Type == Text {
		if int64(len(t.texts)) != n {
			return fmt.Errorf("dims %v: found %d strings, expected %d", t.Dims, len(t.texts), n)
		}
		return nil
	}
	if want := t.Type.rawBytes(n); int64(len(t.raw)) != want {
		return fmt.Errorf("%v %v: found %d bytes of data, expected %d", t.Type, t.Dims, len(t.raw), want)
	}
	return nil
}

// checkValuesHere returns an error if the values are in another file.
func (t *Tensor) checkValuesHere() error {
	if file := t.External(); file != "" {
		return fmt.Errorf("tensor %q: values are in another file, %q, but must be in the model: "+
			"save the model as one file (in Python: onnx.save(onnx.load(path), path, save_as_external_data=False))",
			t.Name, file)
	}
	return nil
}

// Float64s returns a copy of the elements as float64, for every real type.
func (t *Tensor) Float64s() ([]float64, error) { return decodeRaw[float64](t) }

// Float32s returns a copy of the elements as float32, for every real type.
func (t *Tensor) Float32s() ([]float32, error) { return decodeRaw[float32](t) }

// Int64s returns a copy of the elements of an integer or bool tensor.
func (t *Tensor) Int64s() ([]int64, error) {
	if t.Type.Floating() {
		return nil, fmt.Errorf("graph: tensor %q: found %v, expected integers", t.Name, t.Type)
	}
	return decodeRaw[int64](t)
}

// decodeRaw converts the raw elements to T.
func decodeRaw[T float32 | float64 | int64](t *Tensor) ([]T, error) {
	if err := t.checkValuesHere(); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	if err := t.checkTensor(); err != nil {
		return nil, fmt.Errorf("graph: tensor %q: %w", t.Name, err)
	}
	get, width := elementReader[T](t.Type)
	if get == nil {
		return nil, fmt.Errorf("graph: tensor %q: elements of type %v cannot be read as numbers", t.Name, t.Type)
	}
	out := make([]T, len(t.raw)/width)
	for i := range out {
		out[i] = get(t.raw[i*width:])
	}
	return out, nil
}

// elementReader returns a function that reads one element of a type, and the element's width in bytes. It returns nil
// for unsupported types.
func elementReader[T float32 | float64 | int64](t DataType) (get func([]byte) T, width int) {
	le := binary.LittleEndian
	switch t {
	case Float32:
		return func(b []byte) T { return T(math.Float32frombits(le.Uint32(b))) }, 4
	case Float64:
		return func(b []byte) T { return T(math.Float64frombits(le.Uint64(b))) }, 8
	case Float16:
		return func(b []byte) T { return T(halfToFloat(le.Uint16(b))) }, 2
	case BFloat16:
		return func(b []byte) T { return T(math.Float32frombits(uint32(le.Uint16(b)) << 16)) }, 2
	case Int64:
		return func(b []byte) T { return T(int64(le.Uint64(b))) }, 8
	case Uint64:
		return func(b []byte) T { return T(le.Uint64(b)) }, 8
	case Int32:
		return func(b []byte) T { return T(int32(le.Uint32(b))) }, 4
	case Uint32:
		return func(b []byte) T { return T(le.Uint32(b)) }, 4
	case Int16:
		return func(b []byte) T { return T(int16(le.Uint16(b))) }, 2
	case Uint16:
		return func(b []byte) T { return T(le.Uint16(b)) }, 2
	case Int8:
		return func(b []byte) T { return T(int8(b[0])) }, 1
	case Uint8, Bool:
		return func(b []byte) T { return T(b[0]) }, 1
	}
	return nil, 0
}

// halfToFloat converts an IEEE 754 binary16 number: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits.
func halfToFloat(h uint16) float32 {
	sign := float32(1)
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&31), float64(h&1023)
	switch exponent {
	case 0:
		return sign * float32(math.Ldexp(fraction, -24))
	case 31:
		if fraction != 0 {
			return float32(math.NaN())
		}
		return sign * float32(math.Inf(1))
	}
	return sign * float32(math.Ldexp(1024+fraction, exponent-25))
}

// NewTensor returns a tensor with a copy of data. The number of elements must be the product of dims; a scalar
// has no dims.
func NewTensor[T float32 | float64 | int64 | int32 | uint8](name string, data []T, dims ...int64) *Tensor {
	t := &Tensor{Name: name, Dims: dims}
	switch any(data).(type) {
	case []float32:
		t.Type = Float32
	case []float64:
		t.Type = Float64
	case []int64:
		t.Type = Int64
	case []int32:
		t.Type = Int32
	case []uint8:
		t.Type = Uint8
	}
	t.raw, _ = binary.Append([]byte{}, binary.LittleEndian, data) // cannot fail: the numbers have a fixed size
	if err := t.checkTensor(); err != nil {
		panic("graph: tensor " + name + ": " + err.Error()) // a bug of the caller: dims are not from a file
	}
	return t
}
