package losses

import (
	"fmt"
	"math/rand/v2"

	"winnow/features"
)

// pairs describes a block of a similarity matrix: row i of the block is an anchor with label rows[i], column j is a
// vector with label cols[j].
//
// P(i) = {j : same label, not i itself}, N(i) = {j : another label}. If a batch holds one image several times (a class
// with fewer images than the sampler takes), those rows are neither positives nor negatives of each other (METHODS
// 15.1). If they are views of the image (Env.Views), they are positives of each other. In a bank every member with the
// label is a positive, including earlier vectors of the anchor's own image, as in PRISM (METHODS 3.2).
type pairs struct {
	rows, cols []int
	self       bool       // rows and columns are the same batch: column first+i of the whole matrix is row i itself
	first      int        // row of the whole matrix at which the block starts
	left       int        // column at which the block starts; above 0 only for chain.columns
	ids        []int      // IDs of the whole batch if self and rows of one image are no pair, else nil
	anchors    []int      // IDs of the whole batch, for losses that weight samples; nil: unknown
	members    []int      // IDs of the columns, likewise
	draw       *rand.Rand // nil for losses that draw no random numbers
}

// areApart reports whether anchor i and column j, which have the same label, are a positive pair.
func (p *pairs) areApart(i, j int) bool {
	if !p.self {
		return true
	}
	i, j = i+p.first, j+p.left
	return i != j && (p.ids == nil || p.ids[i] != p.ids[j])
}

// isPositive reports whether j ∈ P(i).
func (p *pairs) isPositive(i, j int) bool { return p.rows[i] == p.cols[j] && p.areApart(i, j) }

// checkSet panics if a caller violates the contract of Eval. User errors are checked where input is read.
func checkSet(what string, s features.Set, dim int) {
	checkShape(what, s, dim)
	for i, y := range s.Labels {
		if y < 0 {
			panic(fmt.Sprintf("losses: %s: row %d has label %d, expected 0 or more", what, i, y))
		}
	}
}

// checkShape is checkSet for a loss that also accepts unlabelled rows.
func checkShape(what string, s features.Set, dim int) {
	if s.Dim() != dim {
		panic(fmt.Sprintf("losses: %s has %d dimensions, expected %d", what, s.Dim(), dim))
	}
	if len(s.Labels) != s.Len() || (s.IDs != nil && len(s.IDs) != s.Len()) {
		panic(fmt.Sprintf("losses: %s has %d rows with %d labels and %d ids", what, s.Len(), len(s.Labels), len(s.IDs)))
	}
}
