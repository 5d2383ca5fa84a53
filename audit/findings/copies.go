package findings

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/eval"
	"winnow/features"
)

// CopyBound is the least cosine of whitened features of two near copies. Re-encoded, shrunken and cropped
// photographs have 0.6 to 0.95 with their originals (experiments/audit).
const CopyBound = 0.8

// LeastCopies returns the least cosine of near copies among n rows of d values: [CopyBound], or more if d is so small
// that chance makes a nearer pair for more than one row in a thousand. Of two random directions the cosine is c or more
// with a probability of at most (1−c²)^((d−1)/2).
func LeastCopies(n, d int) float64 {
	const most = 1 - 1e-6 // the same vectors, but for rounding
	return max(CopyBound, min(most, math.Sqrt(1-math.Pow(byChance/float64(n), 2/float64(max(d-1, 1))))))
}

// byChance is the share of rows that may have a neighbour as near as a copy by chance.
const byChance = 1e-3

// AllCompared is the largest number of rows that are all compared with each other. With more, a pair at the bound
// is found with a probability of 95 %.
const AllCompared = 10_000

// CopiesListed is the most copies of an image that are listed.
const CopiesListed = 10

// Least cosines of whitened features from which two pictures are worth comparing. Shrunken and cropped photographs
// have 0.37 or more with their originals in nine of ten cases.
const (
	maybe     = 0.35
	maybeMany = 0.6 // with too many rows to compare all
)

// MaybeCopies returns the least cosine from which the pictures of two of n rows are worth comparing.
func MaybeCopies(n int) float64 {
	if n > AllCompared {
		return maybeMany
	}
	return maybe
}

// Copies lists for each row of z its near copies: the ten nearest whose cosine is at least bound, nearest first. z has
// unit rows. Up to AllCompared rows, it compares all, in time O(n²·d); with more, only rows whose sketches agree
// ([findNearCopies]), which misses a few, in time O(n·d).
func Copies(ctx context.Context, z features.Set, bound float64, maxMem int64) ([][]eval.Neighbour, error) {
	list := make([][]eval.Neighbour, z.Len())
	if z.Len() > AllCompared {
		return list, findNearCopies(ctx, z, bound, list)
	}
	err := eval.EachRow(ctx, z.X, z.X, eval.Bytes(maxMem), func(i int, s []float32) {
		for j, v := range s {
			if float64(v) >= bound && j != i {
				noteCopy(&list[i], eval.Neighbour{Row: j, Similarity: v})
			}
		}
	})
	return list, err
}

// crowd is the place of a neighbour that is taken for an ordinary one; identical is the cosine of pictures of the same
// pixels.
const (
	crowd     = 5
	identical = 0.9995
)

// Apart returns the neighbours of at least bound that are nearer than ordinary ones are to either row: at most half as
// far as its fifth neighbour, where that is as near as bound; nearer in few dimensions d, in which one neighbour of
// five is that near by chance. In a class of images that are all alike, few are copies.
func Apart(near [][]eval.Neighbour, bound float64, d int) [][]eval.Neighbour {
	// of five in a ball, the share of its squared radius within which one lies with the probability byChance
	far := min(0.5, math.Pow(byChance/crowd, 2/float64(max(d, 1))))
	least := make([]float64, len(near))
	for i, list := range near {
		least[i] = bound
		if len(list) >= crowd {
			least[i] = max(bound, 1-(1-float64(list[crowd-1].Similarity))*far)
		}
	}
	taken := make([][]eval.Neighbour, len(near))
	for i, list := range near {
		for _, n := range list {
			if v := float64(n.Similarity); v >= identical || v >= max(least[i], least[n.Row]) {
				taken[i] = append(taken[i], n)
			}
		}
	}
	return taken
}

// Groups returns the groups of two or more of n rows that pairs join, directly or by others: each rising, in the order
// of their first rows.
func Groups(n int, pairs [][]eval.Neighbour) [][]int {
	root := features.AllRows(n)
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	for i, list := range pairs {
		for _, p := range list {
			if a, b := find(i), find(p.Row); a != b {
				root[max(a, b)] = min(a, b)
			}
		}
	}
	var groups [][]int
	number := map[int]int{} // of the group of each first row
	for i := range root {
		first := find(i)
		if first == i {
			continue
		}
		g, ok := number[first]
		if !ok {
			g = len(groups)
			number[first], groups = g, append(groups, []int{first})
		}
		groups[g] = append(groups[g], i)
	}
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return groups
}

// noteCopy adds a copy to a list of the nearest, unless it is there.
func noteCopy(list *[]eval.Neighbour, n eval.Neighbour) {
	for _, known := range *list {
		if known.Row == n.Row {
			return
		}
	}
	if *list == nil {
		*list = make([]eval.Neighbour, 0, CopiesListed)
	}
	*list = eval.Insert(*list, n)
}
