package live

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Given implements Inputs with data that the caller sets before each Load: row i of X is the input of the i-th image.
type Given struct {
	X    blas32.General
	some []float32
}

// Sizes returns the size of the single input.
func (g *Given) Sizes() []int { return []int{g.X.Cols} }

// Prepare does nothing, because the next inputs are not known yet.
func (g *Given) Prepare([]int) {}

// Load returns the current rows of X.
func (g *Given) Load(rows []int) ([][]float32, error) {
	if n := len(rows); slices.Equal(rows, features.AllRows(n)) && g.X.Stride == g.X.Cols {
		return [][]float32{g.X.Data[:n*g.X.Cols]}, nil
	}
	g.some = features.Grow(g.some, len(rows)*g.X.Cols)
	for to, from := range rows {
		copy(g.some[to*g.X.Cols:(to+1)*g.X.Cols], features.Row(g.X, from))
	}
	return [][]float32{g.some}, nil
}
