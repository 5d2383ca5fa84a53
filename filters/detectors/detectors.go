// Package detectors judges a whole labelled set at once, as two published methods do at the start of each of their
// epochs: Sel-CL lets every row's nearest neighbours vote on its label, TCL compares a row with centres of the
// classes and fits a mixture of two normal distributions to how badly it fits its own.
//
// Both say P(clean) of every given label ([SelCL.Clean], [TCL.Clean]), which an audit can use, and what their
// training needs besides: selected rows, confident pairs, class centres. Rows are divided by their lengths at the
// door; similarities are cosines. The products are float32, everything that is decided is float64: what lies
// closer to a cut than float32 can tell is computed again ([precision]), so that copies of one vector are equal and
// no choice depends on how a product was blocked.
//
// A negative label is none: such a row is neither judged nor selected, but has neighbours, a pseudo
// label and a share in the centres. The package sees given labels only, keeps nothing between calls, and imports
// only features.
package detectors

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// unit checks a set at the door and returns it with rows of length 1, copied.
func unit(z features.Set, classes int) (features.Set, error) {
	switch {
	case z.Len() < 2:
		return z, fmt.Errorf("detectors: %d vectors, expected at least 2", z.Len())
	case z.Len() > math.MaxInt32:
		return z, fmt.Errorf("detectors: %d vectors, expected at most %d", z.Len(), math.MaxInt32)
	case len(z.Labels) != z.Len():
		return z, fmt.Errorf("detectors: %d labels, expected one for each of %d vectors", len(z.Labels), z.Len())
	case classes < 1:
		return z, fmt.Errorf("detectors: %d classes, expected at least 1", classes)
	}
	if top := slices.Max(z.Labels); top >= classes {
		return z, fmt.Errorf("detectors: row %d: label %d, expected one of %d classes", slices.Index(z.Labels, top), top, classes)
	}
	out := features.Set{X: features.NewMatrix(z.Len(), z.Dim()), Labels: z.Labels, IDs: z.IDs}
	for i := range z.Len() {
		copy(out.Row(i), z.Row(i))
	}
	if err := features.Normalize(out.X); err != nil {
		return z, fmt.Errorf("detectors: %w", err)
	}
	return out, nil
}

// precision bounds how far a float32 product of two unit rows of dimension d is from the exact one, whatever the
// order of its sum: d·2⁻²⁴, and a little for rows whose length is rounded.
func precision(d int) float64 { return 1.01 * float64(d+4) * 0x1p-24 }

// exact returns the product of two rows in float64.
func exact(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(a); i += 2 {
		s0 += float64(a[i]) * float64(b[i])
		s1 += float64(a[i+1]) * float64(b[i+1])
	}
	if i < len(a) {
		s0 += float64(a[i]) * float64(b[i])
	}
	return s0 + s1
}

// rows returns a view of n rows of m.
func rows(m blas32.General, from, n int) blas32.General {
	return blas32.General{Rows: n, Cols: m.Cols, Stride: m.Stride, Data: m.Data[from*m.Stride : (from+n-1)*m.Stride+m.Cols]}
}

// products overwrites scratch with a·bᵀ.
func products(scratch *[]float32, a, b blas32.General) blas32.General {
	if cap(*scratch) < a.Rows*b.Rows {
		*scratch = make([]float32, a.Rows*b.Rows)
	}
	s := blas32.General{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows, Data: (*scratch)[:a.Rows*b.Rows]}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, s)
	return s
}
