package audit

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

const (
	supporting   = 3       // images that speak for a label
	mostCompared = 1 << 12 // images of a label that are looked at, spread over all where it has more
	askedAtOnce  = 1 << 13 // images that they are compared with at a time
)

// support finds the nearest images that carry the given and the suggested label. Only images of a label are compared, and
// of a large class no more than mostCompared of it, so that time is O(n·mostCompared·d) at most.
func support(ctx context.Context, z features.Set, list []Suspect, maxMem int64) error {
	members, suggested := make(map[int][]int), make(map[int][]int)
	for i, label := range z.Labels {
		members[label] = append(members[label], i)
		if s := list[i].Suggested; s != label {
			suggested[s] = append(suggested[s], i)
		}
	}
	for label, all := range members {
		rows := features.Thinned(all, mostCompared)
		x := z.Rows(rows).X
		ask := func(by []int, note func(i int, near []eval.Neighbour)) error {
			for ; len(by) > 0; by = by[min(askedAtOnce, len(by)):] {
				asked := by[:min(askedAtOnce, len(by))]
				err := eval.EachRow(ctx, z.Rows(asked).X, x, eval.Bytes(maxMem), func(i int, s []float32) {
					note(asked[i], nearestOf(s, rows, asked[i], supporting))
				})
				if err != nil {
					return err
				}
			}
			return nil
		}
		if err := ask(all, func(i int, near []eval.Neighbour) { list[i].SupportGiven = near }); err != nil {
			return err
		}
		if err := ask(suggested[label], func(i int, near []eval.Neighbour) { list[i].SupportSuggested = near }); err != nil {
			return err
		}
	}
	return nil
}

// nearestOf picks the k rows most similar by s, an entry for each, own left out.
func nearestOf(s []float32, rows []int, own, k int) []eval.Neighbour {
	best := make([]eval.Neighbour, 0, k)
	for at, j := range rows {
		if j != own {
			best = eval.Insert(best, eval.Neighbour{Row: j, Similarity: s[at]})
		}
	}
	return best
}
