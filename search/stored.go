package search

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Stored makes a feature store searchable. Its vectors are normalised when they are read. Unreadable images and rows of
// zeros are never found.
type Stored struct{ *features.Store }

// Len and Width implement [Vectors].
func (s Stored) Len() int   { return s.Rows }
func (s Stored) Width() int { return s.Dim }

// Block implements [Vectors].
func (s Stored) Block(from, n int) (blas32.General, []bool, error) {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = from + i
	}
	x, err := s.Read(context.Background(), rows) // a single block; callers check their own context between blocks
	if err != nil {
		return x, nil, err
	}
	return x, UnitRows(x), nil
}

// Held makes a set in memory searchable. Its rows are normalised; rows of zeros are never found.
type Held struct{ features.Set }

// Width implements [Vectors].
func (h Held) Width() int { return h.Dim() }

// Block implements [Vectors].
func (h Held) Block(from, n int) (blas32.General, []bool, error) {
	x := features.NewMatrix(n, h.Dim())
	for i := range n {
		copy(features.Row(x, i), h.Row(from+i))
	}
	return x, UnitRows(x), nil
}
