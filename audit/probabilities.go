package audit

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
)

// ByProbabilities scores labels by class probabilities that a model gave for the images, a row of p for each label
// ([judges.ByProbabilities]). It calls labels wrong if another class is more probable: then a label has less than 1/2,
// whatever the calibration. It does not use the vectors of the set, which may have no values: then the audit finds
// nothing but suspects, and at most [judges.Doubt] are wrong.
func ByProbabilities(p blas32.General, labels []int) *Given {
	g := &Given{Name: Probabilities, Opinion: judges.ByProbabilities(p, labels), Wrong: make([]bool, len(labels)),
		Doubt: judges.Doubt(p, labels)}
	for i := range labels {
		g.Wrong[i] = g.Suggested[i] != labels[i]
	}
	return g
}
