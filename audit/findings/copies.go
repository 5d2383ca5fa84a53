package findings

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

// CopyBound is the least cosine of whitened features of two near copies. Re-encoded, shrunken and cropped
// photographs have 0.6 to 0.95 with their originals (experiments/audit).
const CopyBound = 0.8

// AllCompared is the largest number of rows that are all compared with each other. With more, a pair at the bound
// is found with a probability of 95 %.
const AllCompared = 10_000

const copiesListed = 10 // of an image

// Copies lists for each row of z its near copies with another label: the ten nearest whose cosine is at least
// bound, nearest first. z has unit rows, all labelled. Up to AllCompared rows, it compares all, in time O(n²·d);
// with more, only rows whose sketches agree ([sketched]), which misses a few, in time O(n·d).
func Copies(ctx context.Context, z features.Set, bound float64, maxMem int64) ([][]eval.Neighbour, error) {
	list := make([][]eval.Neighbour, z.Len())
	if z.Len() > AllCompared {
		return list, sketched(ctx, z, bound, list)
	}
	err := eval.EachRow(ctx, z.X, z.X, eval.Bytes(maxMem), func(i int, s []float32) {
		for j, v := range s {
			if float64(v) >= bound && z.Labels[j] != z.Labels[i] {
				note(&list[i], eval.Neighbour{Row: j, Similarity: v})
			}
		}
	})
	return list, err
}

// note adds a copy to a list of the nearest, unless it is there.
func note(list *[]eval.Neighbour, n eval.Neighbour) {
	for _, known := range *list {
		if known.Row == n.Row {
			return
		}
	}
	if *list == nil {
		*list = make([]eval.Neighbour, 0, copiesListed)
	}
	*list = eval.Insert(*list, n)
}
