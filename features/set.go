// Package features defines winnow's central type: a set of labelled vectors, in memory and on disk.
//
// Conventions: vectors are float32 rows of a contiguous [blas32.General] (Stride == Cols); labels are given class IDs 0
// ≤ id < classes, never true labels; IDs are positions in the dataset. The package imports no other public package of
// winnow, and does not depend on the origin or the use of a vector.
package features

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// Unlabelled is the class ID of a row without a label.
const Unlabelled = -1

// Set is n labelled vectors of dimension d.
type Set struct {
	X      blas32.General // n×d, one vector per row, Stride == Cols
	Labels []int          // n given class IDs; nil if labels are not used
	IDs    []int          // n positions in the dataset; nil if IDs are not used
}

// NewSet allocates n zero vectors of dimension d, all of class 0, with the IDs 0 … n-1. Rows with equal IDs would be
// rows of the same image.
func NewSet(n, d int) Set {
	return Set{X: NewMatrix(n, d), Labels: make([]int, n), IDs: AllRows(n)}
}

// FromRows copies vectors of equal length and their labels into a set with the IDs 0 … n-1. labels may be nil.
func FromRows(rows [][]float32, labels []int) (Set, error) {
	if len(rows) == 0 || labels != nil && len(labels) != len(rows) {
		return Set{}, fmt.Errorf("features: found %d vectors and %d labels, expected equal numbers of 1 or more",
			len(rows), len(labels))
	}
	s := Set{X: NewMatrix(len(rows), len(rows[0])), Labels: slices.Clone(labels), IDs: AllRows(len(rows))}
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

// Rows copies the listed rows into a new set, in this order.
func (s Set) Rows(rows []int) Set {
	out := Set{X: NewMatrix(len(rows), s.Dim()), Labels: pickEntries(s.Labels, rows), IDs: pickEntries(s.IDs, rows)}
	for to, from := range rows {
		copy(out.Row(to), s.Row(from))
	}
	return out
}

// pickEntries returns the entries of a list at the given indices, or nil for a nil list.
func pickEntries(list, at []int) []int {
	if list == nil {
		return nil
	}
	out := make([]int, len(at))
	for to, from := range at {
		out[to] = list[from]
	}
	return out
}

// Labelled returns the set without its unlabelled rows.
func (s Set) Labelled() Set {
	rows := labelledIndices(s.Labels)
	if len(rows) == s.Len() {
		return s
	}
	return s.Rows(rows)
}

// labelledIndices returns the indices of all labels except Unlabelled.
func labelledIndices(labels []int) (rows []int) {
	for i, label := range labels {
		if label != Unlabelled {
			rows = append(rows, i)
		}
	}
	return rows
}

// AllRows returns the list 0 … n-1.
func AllRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// ShareLabel reports whether a and b have a common label.
func ShareLabel(a, b []int) bool {
	there := map[int]bool{}
	for _, label := range a {
		there[label] = label != Unlabelled
	}
	return slices.ContainsFunc(b, func(label int) bool { return there[label] })
}

// Distinct removes repeated strings from a list, in place, and keeps the order.
func Distinct(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(s string) bool {
		known := seen[s]
		seen[s] = true
		return known
	})
}

// Thinned limits a list of rows to the given number: from a longer list, it selects evenly spaced rows.
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
