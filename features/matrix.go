package features

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// NewMatrix allocates a contiguous n×d matrix of zeros.
func NewMatrix(n, d int) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: max(d, 1), Data: make([]float32, n*d)}
}

// Row returns a view of row i of m.
func Row(m blas32.General, i int) []float32 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// Part returns a view of n rows of m, starting at row from.
func Part(m blas32.General, from, n int) blas32.General {
	if n == 0 {
		return blas32.General{Cols: m.Cols, Stride: m.Stride}
	}
	return blas32.General{Rows: n, Cols: m.Cols, Stride: m.Stride,
		Data: m.Data[from*m.Stride : (from+n-1)*m.Stride+m.Cols]}
}

// Resize returns a contiguous n×d matrix with unspecified content. It uses the memory of m if that is large enough.
func Resize(m blas32.General, n, d int) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: max(d, 1), Data: Grow(m.Data, n*d)}
}

// Grow returns a slice of n values with unspecified content. It uses the memory of s if that is large enough.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Products returns a·bᵀ. It uses the memory of scratch if that is large enough.
func Products(scratch *[]float32, a, b blas32.General) blas32.General {
	s := Resize(blas32.General{Data: *scratch}, a.Rows, b.Rows)
	*scratch = s.Data
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, s)
	return s
}
