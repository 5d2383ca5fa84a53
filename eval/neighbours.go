package eval

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Neighbour is a gallery row and its cosine to the query.
type Neighbour struct {
	Row        int
	Similarity float32
}

// Nearest finds the k nearest gallery rows of every query, nearest first, ties by lower index; fewer where
// the gallery is smaller. A nil gallery is the queries themselves, each left out of its own list.
func Nearest(ctx context.Context, query features.Set, gallery *features.Set, k int, maxMem int64) ([][]Neighbour, error) {
	self := gallery == nil
	if self {
		gallery = &query
	}
	out := make([][]Neighbour, query.Len())
	err := eachRow(ctx, query.X, gallery.X, maxMem, func(i int, s []float32, scratch *ranker) {
		order := &scratch.order
		order.next(s, query.Row(i), gallery.X)
		best := make([]Neighbour, 0, min(k, len(s)))
		for j := 0; j < len(s); j++ {
			if n := len(best); n > 0 && n == cap(best) {
				if j += atLeast(s[j:], best[n-1].Similarity-order.slack); j == len(s) {
					break
				}
			}
			if !self || j != i {
				best = insertBy(best, Neighbour{j, s[j]}, func(a, b Neighbour) bool { return order.compare(a.Row, b.Row) < 0 })
			}
		}
		out[i] = best
	})
	return out, err
}

// EachRow calls visit with every row of the similarities q·gᵀ, on all cores, a block of queries of at most maxMem bytes
// at a time.
func EachRow(ctx context.Context, q, g blas32.General, maxMem int64, visit func(i int, s []float32)) error {
	return eachRow(ctx, q, g, maxMem, func(i int, s []float32, _ *ranker) { visit(i, s) })
}

// Insert puts n into a list of the nearest, best first, whose capacity is the most it may hold; among equals
// the earlier one stays in front.
func Insert(best []Neighbour, n Neighbour) []Neighbour {
	return insertBy(best, n, func(a, b Neighbour) bool { return a.Similarity > b.Similarity })
}

// insertBy is Insert by another order.
func insertBy(best []Neighbour, n Neighbour, nearer func(a, b Neighbour) bool) []Neighbour {
	if len(best) == cap(best) {
		if len(best) == 0 || !nearer(n, best[len(best)-1]) {
			return best
		}
	} else {
		best = append(best, n)
	}
	at := len(best) - 1
	for at > 0 && nearer(n, best[at-1]) {
		best[at] = best[at-1]
		at--
	}
	best[at] = n
	return best
}
