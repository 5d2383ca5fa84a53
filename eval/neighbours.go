package eval

import (
	"context"

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
	err := eachRow(ctx, query.X, gallery.X, maxMem, func(i int, s []float32, _ *ranker) {
		best := make([]Neighbour, 0, min(k, len(s)))
		for j, v := range s {
			if self && j == i || len(best) == k && (k == 0 || v <= best[k-1].Similarity) {
				continue
			}
			if len(best) < k {
				best = append(best, Neighbour{})
			}
			at := len(best) - 1
			for at > 0 && best[at-1].Similarity < v {
				best[at] = best[at-1]
				at--
			}
			best[at] = Neighbour{j, v}
		}
		out[i] = best
	})
	return out, err
}
