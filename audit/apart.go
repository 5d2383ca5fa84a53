package audit

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"winnow/audit/findings"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// comparedAtOnce is the number of pairs whose vectors are read together.
const comparedAtOnce = 1 << 12

// findCopies finds the groups of copies among all rows, as an audit of all rows together does: by vectors, which white
// whitens, and pictures if they are at hand. It holds a sketch of each row.
func (b *Basis) findCopies(ctx context.Context, all findings.Rows, white *head.Head, o job) error {
	dim := len(white.Params()[1].Data)
	bound := cmp.Or(o.Copies, findings.LeastCopies(all.Len(), dim))
	least := bound
	if o.Same != nil {
		least = min(bound, findings.MaybeCopies(all.Len()))
	}
	near, err := findings.CopiesApart(ctx, all, white.Embed, dim, least)
	if err != nil {
		return err
	}
	taken := make([][]eval.Neighbour, len(near))
	if o.Same != nil {
		taken, err = o.findSamePictures(ctx, near, taken, features.AllRows(len(near)))
	} else {
		taken, err = comparePairs(ctx, all, white, near, bound)
	}
	if err != nil {
		return err
	}
	b.Copies = findings.Groups(len(near), taken)
	return nil
}

// comparePairs returns the pairs of near whose vectors are nearer than bound, and than ordinary neighbours are. Of more
// pairs than rows, it compares the nearest.
func comparePairs(ctx context.Context, all findings.Rows, white *head.Head, near [][]eval.Neighbour,
	bound float64) ([][]eval.Neighbour, error) {
	exact := make([][]eval.Neighbour, len(near))
	pairs := pairsOf(near)
	for left := pairs[:min(len(pairs), len(near))]; len(left) > 0; {
		some := left[:min(comparedAtOnce, len(left))]
		left = left[len(some):]
		var rows []int
		for _, p := range some {
			rows = append(rows, p.a, p.b)
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		set, err := all.Some(ctx, rows)
		if err != nil {
			return nil, err
		}
		z, err := white.Embed(set.X)
		if err != nil {
			return nil, err
		}
		for _, p := range some {
			i, _ := slices.BinarySearch(rows, p.a)
			j, _ := slices.BinarySearch(rows, p.b)
			if v := features.Dot(features.Row(z, i), features.Row(z, j)); v >= bound {
				exact[p.a] = append(exact[p.a], eval.Neighbour{Row: p.b, Similarity: float32(v)})
				exact[p.b] = append(exact[p.b], eval.Neighbour{Row: p.a, Similarity: float32(v)})
			}
		}
	}
	for _, list := range exact {
		slices.SortFunc(list, func(a, b eval.Neighbour) int {
			return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Row, b.Row))
		})
	}
	return findings.Apart(exact, bound, len(white.Params()[1].Data)), nil
}

// withoutCopies returns the sample with one of each group of copies, which counts for them, and none whose labels
// contradict each other. labels are those of all rows.
func (b *Basis) withoutCopies(sample features.Set, labels []int) (features.Set, error) {
	out, first := map[int]bool{}, map[int]int{}
	for _, group := range b.Copies {
		vary := slices.ContainsFunc(group, func(row int) bool { return labels[row] != labels[group[0]] })
		counts := group[0]
		if at := slices.IndexFunc(group, func(row int) bool {
			_, drawn := slices.BinarySearch(sample.IDs, row)
			return drawn
		}); at >= 0 {
			counts = group[at]
		}
		for _, row := range group {
			if out[row] = vary || row != counts; row != counts {
				b.Copied, first[row] = append(b.Copied, row), counts
			}
		}
	}
	slices.Sort(b.Copied)
	for _, row := range b.Copied {
		b.First = append(b.First, first[row])
	}
	var keep []int
	for i, row := range sample.IDs {
		if !out[row] {
			keep = append(keep, i)
		}
	}
	if len(keep) == sample.Len() {
		return sample, nil
	}
	if len(keep) < 2 {
		return sample, errors.New("audit: all images are copies of each other")
	}
	return sample.Rows(keep), nil
}

// groupLabelledCopies returns the groups among the labelled rows, of n.
func (b *Basis) groupLabelledCopies(rows []int, n int) copies {
	at := make([]int, n)
	for i := range at {
		at[i] = -1
	}
	for i, row := range rows {
		at[row] = i
	}
	var c copies
	for _, group := range b.Copies {
		var list []int
		for _, row := range group {
			if at[row] >= 0 {
				list = append(list, at[row])
			}
		}
		if len(list) > 1 {
			c.groups = append(c.groups, list)
		}
	}
	return c
}
