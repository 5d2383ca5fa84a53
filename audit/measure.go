package audit

import "winnow/eval"

// Measure compares the result with the truth. wrong reports for each row of the set whether its label is wrong.
func (r *Result) Measure(wrong []bool) (eval.Detection, error) {
	n := len(r.Suspects)
	orders, bad, kept := make([]float64, n), make([]bool, n), make([]bool, n)
	for i, s := range r.Suspects {
		orders[i], bad[i], kept[i] = s.Order, wrong[s.Row], !s.Flagged
	}
	return eval.Detect(orders, bad, kept)
}
