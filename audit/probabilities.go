package audit

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
)

// ByProbabilities scores labels by a model's class probabilities for the images; p has one row for each label
// ([judges.ByProbabilities]). A label is flagged if another class is more probable; the probability of the label is
// then below 1/2, whatever the calibration. ByProbabilities does not use the vectors of the set. If the set has no
// vectors, the audit lists suspects without findings, and [judges.Doubt] bounds the share of wrong labels.
func ByProbabilities(p blas32.General, labels []int) *Given {
	g := &Given{Name: Probabilities, Opinion: judges.ByProbabilities(p, labels), Wrong: make([]bool, len(labels)),
		Doubt: judges.Doubt(p, labels)}
	for i := range labels {
		g.Wrong[i] = g.Suggested[i] != labels[i]
	}
	return g
}
