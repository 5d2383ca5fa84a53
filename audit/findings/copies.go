package findings

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/eval"
	"winnow/features"
)

// CopyBound is the least cosine of whitened features of near-duplicates. Re-encoded, scaled-down and cropped
// photographs have cosines of 0.6 to 0.95 with their originals (experiments/audit).
const CopyBound = 0.8

// LeastCopies returns the least cosine of near-duplicates among n rows of d values: [CopyBound], or more if d is so
// small that more than one row in a thousand has a nearer neighbour by chance. The cosine of two random directions is c
// or more with a probability of at most (1−c²)^((d−1)/2).
func LeastCopies(n, d int) float64 {
	const most = 1 - 1e-6 // equal vectors, up to rounding
	return max(CopyBound, min(most, math.Sqrt(1-math.Pow(byChance/float64(n), 2/float64(max(d-1, 1))))))
}

// byChance is the tolerated share of rows with a neighbour that is as near as a duplicate merely by chance.
const byChance = 1e-3

// AllCompared is the largest number of rows for which all pairs are compared. With more rows, a pair whose cosine just
// reaches the least cosine of near-duplicates is found with a probability of 95 %.
const AllCompared = 10_000

// CopiesListed is the largest number of duplicates listed for an image.
const CopiesListed = 10

// Two images are compared if the cosine of their whitened features is at least the value of maybe (or maybeMany). In
// nine of ten cases, the cosine of a scaled-down or cropped photograph and its original is at least 0.37.
const (
	maybe     = 0.35
	maybeMany = 0.6 // least cosine if there are more than AllCompared rows
)

// MaybeCopies returns the least cosine of two of n rows whose images are compared.
func MaybeCopies(n int) float64 {
	if n > AllCompared {
		return maybeMany
	}
	return maybe
}

// Copies lists for each row of z its near-duplicates: the ten nearest rows with a cosine of at least bound, nearest
// first. The rows of z have unit length. Up to AllCompared rows, it compares all pairs, in time O(n²·d). With more, it
// compares only rows whose sketches agree ([findNearCopies]), in time O(n·d), and misses a few.
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

// The row's neighbour of rank crowd is taken as ordinary, not as a duplicate. identical is the least cosine of two
// images with the same pixels.
const (
	crowd     = 5
	identical = 0.9995
)

// Apart returns the neighbours that are duplicates. A neighbour with a cosine of at least bound is a duplicate if it is
// much nearer to both rows than ordinary neighbours are: at most half as far as the row's fifth neighbour, if that
// neighbour reaches bound as well. In few dimensions d, where one of five neighbours is often that near by chance, it
// must be nearer. So few images are duplicates in a class of images that are all similar.
func Apart(near [][]eval.Neighbour, bound float64, d int) [][]eval.Neighbour {
	// of the squared radius of a ball: one of five random points lies within this share with probability byChance
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

// Groups returns the groups of rows that pairs connect, directly or through other rows. n is the number of rows; each
// group has two rows or more, ascending. Groups are ordered by their first rows.
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
	number := map[int]int{} // number of the group that starts with each row
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

// noteCopy adds a duplicate to a list of the nearest, unless the list contains it already.
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
