package features

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// WriteNPY writes x as a float32 array of shape n×d in C order.
func WriteNPY(w io.Writer, x blas32.General) error {
	if _, err := w.Write(encodeNPYHeader("<f4", x.Rows, x.Cols)); err != nil {
		return err
	}
	return writeRows(w, "<f4", x)
}

// NPYHeader returns the header of a float32 array of this shape in C order.
func NPYHeader(rows, cols int) []byte { return encodeNPYHeader("<f4", rows, cols) }

// EncodeRows writes the values of x as little-endian numbers of type [Float32] or [Float16], without a header.
func EncodeRows(w io.Writer, dtype string, x blas32.General) error {
	return writeRows(w, Key{DType: dtype}.numpyDescr(), x)
}

// DecodeRows fills dst with the values in b, as written by [EncodeRows].
func DecodeRows(dst []float32, dtype string, b []byte) {
	Array{Floats: dst}.decodeElements(0, Key{DType: dtype}.numpyDescr(), b)
}

// writeRows writes the values of x as <f4 or <f2, without a header.
func writeRows(w io.Writer, descr string, x blas32.General) error {
	if x.Cols == 0 {
		return nil
	}
	buf := make([]byte, elementSize[descr]*x.Cols)
	for i := range x.Rows {
		for j, v := range Row(x, i) {
			if descr == "<f2" {
				binary.LittleEndian.PutUint16(buf[2*j:], toHalf(v))
				continue
			}
			binary.LittleEndian.PutUint32(buf[4*j:], math.Float32bits(v))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// Array is the content of an npy file: Floats for the types f2, f4 and f8 (f8 rounded to float32), Ints for i8.
type Array struct {
	Shape  []int
	Floats []float32
	Ints   []int64
}

// Matrix returns a two-dimensional array of floats as a matrix, without copying.
func (a Array) Matrix() (blas32.General, error) {
	if len(a.Shape) != 2 || a.Floats == nil {
		return blas32.General{}, fmt.Errorf("features: npy: shape %v, expected a matrix of floats", a.Shape)
	}
	return blas32.General{Rows: a.Shape[0], Cols: a.Shape[1], Stride: max(a.Shape[1], 1), Data: a.Floats}, nil
}

// ReadNPY reads an npy file of size bytes (numpy's versions 1.0 to 3.0; little-endian float16, float32, float64 and
// int64; C order). It checks that the shape fits the size before allocating memory.
func ReadNPY(r io.Reader, size int64) (Array, error) {
	h, err := readNPYHeader(r)
	if err != nil {
		return Array{}, fmt.Errorf("features: npy: %w", err)
	}
	n, err := h.checkNpySize(size)
	if err != nil {
		return Array{}, fmt.Errorf("features: npy: %w", err)
	}
	a := Array{Shape: h.shape}
	width := elementSize[h.descr]
	if h.descr == "<i8" {
		a.Ints = make([]int64, n)
	} else {
		a.Floats = make([]float32, n)
	}
	buf := make([]byte, min(n*width, 1<<16))
	for done := 0; done < n; {
		b := buf[:min(len(buf), (n-done)*width)]
		if _, err := io.ReadFull(r, b); err != nil {
			return Array{}, fmt.Errorf("features: npy: the data end at element %d of %d: %w", done, n, err)
		}
		a.decodeElements(done, h.descr, b)
		done += len(b) / width
	}
	return a, nil
}

// checkNpySize compares the shape with the size of the file and returns the number of elements.
func (h npyHeader) checkNpySize(size int64) (int, error) {
	width, ok := elementSize[h.descr]
	if !ok {
		return 0, fmt.Errorf("element type %q, expected <f4, <f8, <f2 or <i8", h.descr)
	}
	n, err := h.countElements()
	if err != nil {
		return 0, err
	}
	if have := size - h.size; have < 0 || have%int64(width) != 0 || have/int64(width) != int64(n) {
		return 0, fmt.Errorf("%d bytes of data for shape %v of %s, expected %d elements of %d bytes",
			have, h.shape, h.descr, n, width)
	}
	return n, nil
}

// decodeElements decodes the values in b into the array, starting at the given index.
func (a Array) decodeElements(at int, descr string, b []byte) {
	switch descr {
	case "<f4":
		for i := range len(b) / 4 {
			a.Floats[at+i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
	case "<f8":
		for i := range len(b) / 8 {
			a.Floats[at+i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case "<f2":
		for i := range len(b) / 2 {
			a.Floats[at+i] = widenHalf(binary.LittleEndian.Uint16(b[2*i:]))
		}
	case "<i8":
		for i := range len(b) / 8 {
			a.Ints[at+i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
}
