// Package features holds the one noun of winnow: a set of labelled vectors, in memory and on disk.
//
// Conventions: vectors are float32 rows of a contiguous [blas32.General] (Stride == Cols); labels are
// class ids 0 ≤ id < classes as given, never the truth; IDs are positions in the dataset.
// It imports nothing else of winnow, and does not know who made a vector or what it is for.
package features

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// Unlabelled is the class id of a row without a label.
const Unlabelled = -1

// Set is n labelled vectors of dimension d.
type Set struct {
	X      blas32.General // n×d, one vector a row, Stride == Cols
	Labels []int          // n given class ids; nil where labels play no part
	IDs    []int          // n positions in the dataset; nil where identity plays no part
}

// NewSet allocates n zero vectors of dimension d, all of class 0, with the ids 0 … n-1: equal ids would say that
// they are copies of one image.
func NewSet(n, d int) Set {
	return Set{X: NewMatrix(n, d), Labels: make([]int, n), IDs: AllRows(n)}
}

// FromRows copies vectors, all equally long, and their labels into a set, with the ids 0 … n-1.
func FromRows(rows [][]float32, labels []int) (Set, error) {
	if len(rows) == 0 || len(labels) != len(rows) {
		return Set{}, fmt.Errorf("features: found %d vectors and %d labels, expected as many, and at least one",
			len(rows), len(labels))
	}
	s := NewSet(len(rows), len(rows[0]))
	copy(s.Labels, labels)
	for i, row := range rows {
		if len(row) != s.Dim() {
			return Set{}, fmt.Errorf("features: row %d: found %d values, expected %d as in row 0", i, len(row), s.Dim())
		}
		copy(s.Row(i), row)
	}
	return s, nil
}

// Len returns the number of vectors.
func (s Set) Len() int { return s.X.Rows }

// Dim returns the dimension of the vectors.
func (s Set) Dim() int { return s.X.Cols }

// Row returns a view of vector i.
func (s Set) Row(i int) []float32 { return Row(s.X, i) }

// Rows copies the named rows, in the order given, into a new set.
func (s Set) Rows(rows []int) Set {
	out := Set{X: NewMatrix(len(rows), s.Dim()), Labels: picked(s.Labels, rows), IDs: picked(s.IDs, rows)}
	for to, from := range rows {
		copy(out.Row(to), s.Row(from))
	}
	return out
}

// picked returns the entries of a list at these places; of none nil.
func picked(list, at []int) []int {
	if list == nil {
		return nil
	}
	out := make([]int, len(at))
	for to, from := range at {
		out[to] = list[from]
	}
	return out
}

// Labelled returns the set without the rows that have no given label.
func (s Set) Labelled() Set {
	rows := labelled(s.Labels)
	if len(rows) == s.Len() {
		return s
	}
	return s.Rows(rows)
}

// labelled returns the positions of the labels that are given.
func labelled(labels []int) (rows []int) {
	for i, label := range labels {
		if label != Unlabelled {
			rows = append(rows, i)
		}
	}
	return rows
}

// AllRows returns 0 … n-1.
func AllRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// ShareLabel reports whether a label is on both sides.
func ShareLabel(a, b []int) bool {
	there := map[int]bool{}
	for _, label := range a {
		there[label] = label != Unlabelled
	}
	return slices.ContainsFunc(b, func(label int) bool { return there[label] })
}

// Thinned returns rows, or where they are more than most as many of them, spread over all.
func Thinned(rows []int, most int) []int {
	if len(rows) <= most {
		return rows
	}
	out := make([]int, most)
	for i := range out {
		out[i] = rows[i*len(rows)/most]
	}
	return out
}
