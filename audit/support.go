package audit

import (
	"context"

	"winnow/eval"
	"winnow/features"
)

// supporting is how many images speak for a label.
const supporting = 3

// support finds the nearest images that carry the given and the suggested label.
func support(ctx context.Context, z features.Set, list []Suspect, maxMem int64) error {
	members := make(map[int][]int)
	for i, label := range z.Labels {
		members[label] = append(members[label], i)
	}
	return eval.EachRow(ctx, z.X, z.X, maxMem, func(i int, s []float32) {
		list[i].SupportGiven = nearestOf(s, members[z.Labels[i]], i, supporting)
		if list[i].Suggested != z.Labels[i] {
			list[i].SupportSuggested = nearestOf(s, members[list[i].Suggested], i, supporting)
		}
	})
}

// nearestOf picks the k members most similar by s, own left out.
func nearestOf(s []float32, members []int, own, k int) []eval.Neighbour {
	best := make([]eval.Neighbour, 0, k)
	for _, j := range members {
		if j != own {
			best = eval.Insert(best, eval.Neighbour{Row: j, Similarity: s[j]})
		}
	}
	return best
}
