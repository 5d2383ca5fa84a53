package audit

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

const (
	supporting   = 3       // images that support a label
	mostCompared = 1 << 12 // most images of a label that are compared, spread over all of them
	askedAtOnce  = 1 << 13 // images that they are compared with at a time
)

// findSupport finds the nearest images with the given and with the suggested label; the latter are nil if both labels
// are the same. Copies of an image, which have its group, do not support it; nil: there are none. It compares at most
// mostCompared images of each label, so that time is O(n·mostCompared·d) at most.
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

// nearestOf returns the k rows most similar by s, which has an entry for each row, without own and its
// group.
func nearestOf(s []float32, rows []int, own int, group []int, k int) []eval.Neighbour {
	best := make([]eval.Neighbour, 0, k)
	for at, j := range rows {
		if j != own && (group == nil || group[own] < 0 || group[j] != group[own]) {
			best = eval.Insert(best, eval.Neighbour{Row: j, Similarity: s[at]})
		}
	}
	return best
}
