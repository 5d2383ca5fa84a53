package eval

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/spread"
)

// Neighbour is a gallery row with its cosine to the query.
type Neighbour struct {
	Row        int
	Similarity float32
}

// Nearest returns the k nearest gallery rows of every query, nearest first, ties by lower index; fewer if the gallery
// is smaller. If gallery is nil, the queries are compared with each other, and each query is left out of its own list.
func Nearest(
	ctx context.Context, query features.Set, gallery *features.Set, k int, maxMem Bytes,
) ([][]Neighbour, error) {
	leaveOut := Same(nil).leaveOut(query, gallery, func(i int) int { return i })
	if gallery == nil {
		gallery = &query
	}
	return nearestOf(ctx, query, *gallery, leaveOut, k, maxMem)
}

func nearestOf(ctx context.Context, query, gallery features.Set, leaveOut func(i int) []int, k int, maxMem Bytes) (
	[][]Neighbour, error) {
	out := make([][]Neighbour, query.Len())
	err := eachRow(ctx, query.X, gallery.X, maxMem, func(i int, s []float32, scratch *ranker) {
		scratch.order.setQuery(s, query.Row(i), gallery.X)
		out[i] = scratch.order.nearestRows(k, leaveOut(i))
	})
	return out, err
}

// nearestRows returns the k nearest rows other than those in leave, nearest first. It computes similarities exactly
// only where float32 is too imprecise: all other rows are below the k-th by more than the rounding error.
func (o *order) nearestRows(k int, leave []int) []Neighbour {
	list, bar, room := o.list[:0], float32(math.Inf(-1)), 3*k+64
	for j := 0; k > 0 && j < len(o.s); j++ {
		if j += atLeast(o.s[j:], bar); j == len(o.s) {
			break
		}
		if slices.Contains(leave, j) {
			continue
		}
		if list = append(list, Neighbour{j, o.s[j]}); len(list) == room {
			list, bar = o.cutNeighbours(list, k)
			room = max(room, 2*len(list)) // many rows may tie with the k-th
		}
	}
	if len(list) > k {
		list, _ = o.cutNeighbours(list, k)
	}
	slices.SortFunc(list, func(a, b Neighbour) int { return o.compareRanked(a.Row, b.Row) })
	o.list = list
	return slices.Clone(list[:min(k, len(list))])
}

// cutNeighbours removes the rows that cannot be among the k nearest. It also returns the least similarity of the
// remaining rows.
func (o *order) cutNeighbours(list []Neighbour, k int) ([]Neighbour, float32) {
	o.sims = o.sims[:0]
	for _, n := range list {
		o.sims = append(o.sims, n.Similarity)
	}
	bar := spread.KthLargest(o.sims, k) - o.slack
	return slices.DeleteFunc(list, func(n Neighbour) bool { return n.Similarity < bar }), bar
}

// EachRow calls visit with every row of the similarities q·gᵀ, on all cores, one block of queries of at most
// maxMem bytes at a time.
func EachRow(ctx context.Context, q, g blas32.General, maxMem Bytes, visit func(i int, s []float32)) error {
	return eachRow(ctx, q, g, maxMem, func(i int, s []float32, _ *ranker) { visit(i, s) })
}

// Insert inserts n into a list of the nearest, nearest first. The list's capacity is its largest length. n is placed
// after rows with the same similarity.
func Insert(best []Neighbour, n Neighbour) []Neighbour {
	if len(best) == cap(best) {
		if len(best) == 0 || !(n.Similarity > best[len(best)-1].Similarity) {
			return best
		}
	} else {
		best = append(best, n)
	}
	at := len(best) - 1
	for at > 0 && n.Similarity > best[at-1].Similarity {
		best[at] = best[at-1]
		at--
	}
	best[at] = n
	return best
}
