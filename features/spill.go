package features

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"
)

const (
	// SpillFrom is the size in bytes above which [Spill] keeps a matrix in a file.
	SpillFrom = 64 << 20
	spillRows = 2048 // rows computed at a time
)

// Spill returns a rows×cols matrix for reading only; fill computes a few rows at a time. A large matrix is stored in an
// unnamed temporary file and mapped, so that the system can reclaim its pages and the program's own memory stays small.
// free, which is never nil, releases the matrix.
func Spill(
	rows, cols int, fill func(from int, x blas32.General) error,
) (x blas32.General, free func() error, err error) {
	size, free := 4*int64(rows)*int64(cols), func() error { return nil }
	if size < SpillFrom {
		x = NewMatrix(rows, cols)
		return x, free, eachPart(rows, func(from, n int) error { return fill(from, Part(x, from, n)) })
	}
	f, err := os.CreateTemp("", "winnow-*.vectors")
	if err != nil {
		return x, free, fmt.Errorf("features: temporary file for %d vectors: %w", rows, err)
	}
	defer f.Close() // the mapping stays valid after closing
	unnamed := os.Remove(f.Name()) == nil
	block := NewMatrix(min(spillRows, rows), cols)
	err = eachPart(rows, func(from, n int) error {
		part := Part(block, 0, n)
		if err := fill(from, part); err != nil {
			return err
		}
		if _, err := f.Write(FloatBytes(part.Data[:n*cols])); err != nil {
			return fmt.Errorf("features: temporary file for %d vectors of %d values (TMPDIR sets its folder): %w",
				rows, cols, err)
		}
		return nil
	})
	if err == nil {
		if data, unmap := MapFloats(f, size); data != nil {
			return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data}, unmap, nil
		}
		x = NewMatrix(rows, cols)
		_, err = f.ReadAt(FloatBytes(x.Data), 0)
	}
	if !unnamed {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return x, free, err
}

// FloatBytes returns the bytes of numbers in the machine's byte order, without copying.
func FloatBytes(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}

func eachPart(rows int, do func(from, n int) error) error {
	for from := 0; from < rows; from += spillRows {
		if err := do(from, min(spillRows, rows-from)); err != nil {
			return err
		}
	}
	return nil
}
