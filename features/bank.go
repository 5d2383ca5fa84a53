package features

import "gonum.org/v1/gonum/blas/blas32"

// Bank is a true first-in first-out memory of unit vectors with, per class, the sum and the number of its
// current members (PRISM, section III-B; the official ring, which loses fresh rows, is not followed).
type Bank struct {
	set    Set         // capacity×dim ring
	next   int         // where the next vector goes
	filled int         // members, ≤ capacity
	sums   [][]float64 // classes×dim, float64 sums of the members
	counts []int       // classes
}

// Set is a view of the members, in ring order (not the order of arrival); valid until the next Push.
func (b *Bank) Set() Set {
	s := Set{Labels: b.set.Labels[:b.filled], IDs: b.set.IDs[:b.filled]}
	s.X = blas32.General{Rows: b.filled, Cols: b.set.X.Cols, Stride: b.set.X.Stride, Data: b.set.X.Data[:b.filled*b.set.X.Stride]}
	return s
}
