package findings

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

// CopyBound is the cosine of whitened features from which two images count as near copies: between re-encoded, shrunken
// and cropped photographs and their originals it is 0.6 to 0.95 (experiments/audit).
const CopyBound = 0.8

// nearestLooked is how many of an image's nearest others are looked at.
const nearestLooked = 10

// Copies lists for each row of z its near copies with another label: those of its ten nearest other rows whose cosine
// is at least bound, nearest first. z has unit rows, all labelled. Time O(n²·d).
func Copies(ctx context.Context, z features.Set, bound float64, maxMem int64) ([][]eval.Neighbour, error) {
	near, err := eval.Nearest(ctx, z, nil, nearestLooked, maxMem)
	if err != nil {
		return nil, err
	}
	for i, list := range near {
		kept := list[:0]
		for _, n := range list {
			if float64(n.Similarity) >= bound && z.Labels[n.Row] != z.Labels[i] {
				kept = append(kept, n)
			}
		}
		near[i] = kept
	}
	return near, nil
}
