package findings

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

// CopyBound is the cosine of whitened features from which two images count as near copies: between re-encoded, shrunken
// and cropped photographs and their originals it is 0.6 to 0.95 (experiments/audit).
const CopyBound = 0.8

// AllCompared is how many rows are all compared with each other; of more a pair at the bound is found with a probability of 95 %.
const AllCompared = 10_000

const copiesListed = 10 // of an image

// Copies lists for each row of z its near copies with another label: the ten nearest of those whose cosine is at least
// bound, nearest first. z has unit rows, all labelled. Up to AllCompared rows all are compared; of more only those
// whose sketches agree ([sketched]), which misses a few: time O(n²·d), then O(n·d).
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

// note puts a copy into a list of the nearest, in which it may be already.
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
