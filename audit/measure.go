package audit

import (
	"slices"

	"winnow/eval"
)

// Measure compares the result with the truth. given and truth hold the given and the true label of each row of the set,
// in any common numbering. Duplicates whose true labels contradict each other are left out and counted: at least one of
// these labels is wrong, and nobody knows which.
func (r *Result) Measure(given, truth []int) (eval.Detection, error) {
	contradicted := map[int]bool{}
	for _, group := range r.Groups {
		if slices.ContainsFunc(group, func(row int) bool { return truth[row] != truth[group[0]] }) {
			for _, row := range group {
				contradicted[row] = true
			}
		}
	}
	var orders []float64
	var wrong, kept []bool
	for _, s := range r.Suspects {
		if !contradicted[s.Row] {
			orders, kept = append(orders, s.Order), append(kept, !s.Flagged)
			wrong = append(wrong, given[s.Row] != truth[s.Row])
		}
	}
	d, err := eval.Detect(orders, wrong, kept)
	d.LeftOut = len(r.Suspects) - len(orders)
	return d, err
}
