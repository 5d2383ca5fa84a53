package audit

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

const (
	supporting   = 3       // number of images listed in support of a label
	mostCompared = 1 << 12 // most images of a label to compare with, evenly spaced among all its images
	askedAtOnce  = 1 << 13 // rows compared with them at a time
)

// findSupport finds the nearest images with the given label and with the suggested label; the latter list is nil if
// both labels are the same. Duplicates, which share a group number, do not support each other; group is nil if there
// are none. At most mostCompared images of each label are compared, so that the time is O(n·mostCompared·d).
func findSupport(ctx context.Context, z features.Set, suggested, group []int,
	maxMem int64) (forGiven, forSuggested [][]eval.Neighbour, err error) {
	members, others := make(map[int][]int), make(map[int][]int)
	for i, label := range z.Labels {
		members[label] = append(members[label], i)
		if s := suggested[i]; s != label {
			others[s] = append(others[s], i)
		}
	}
	forGiven, forSuggested = make([][]eval.Neighbour, z.Len()), make([][]eval.Neighbour, z.Len())
	for label, all := range members {
		rows := features.Thinned(all, mostCompared)
		x := z.Rows(rows).X
		ask := func(by []int, to [][]eval.Neighbour) error {
			for ; len(by) > 0; by = by[min(askedAtOnce, len(by)):] {
				asked := by[:min(askedAtOnce, len(by))]
				err := eval.EachRow(ctx, z.Rows(asked).X, x, eval.Bytes(maxMem), func(i int, s []float32) {
					to[asked[i]] = nearestOf(s, rows, asked[i], group, supporting)
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
		if err := ask(all, forGiven); err != nil {
			return nil, nil, err
		}
		if err := ask(others[label], forSuggested); err != nil {
			return nil, nil, err
		}
	}
	return forGiven, forSuggested, nil
}

// nearestOf returns the k rows with the largest similarity s, without own and its duplicates. s has an entry for each
// row.
func nearestOf(s []float32, rows []int, own int, group []int, k int) []eval.Neighbour {
	best := make([]eval.Neighbour, 0, k)
	for at, j := range rows {
		if j != own && (group == nil || group[own] < 0 || group[j] != group[own]) {
			best = eval.Insert(best, eval.Neighbour{Row: j, Similarity: s[at]})
		}
	}
	return best
}
