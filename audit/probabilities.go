package audit

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
)

// ByProbabilities are scores by class probabilities that a model gave for the images, a row of p for each label
// ([judges.ByProbabilities]). Labels that another class is more probable than are called wrong. The vectors of the set are
// not asked, and may have no values: then nothing is found but suspects.
func ByProbabilities(p blas32.General, labels []int) *Given {
	g := &Given{Name: Probabilities, Opinion: judges.ByProbabilities(p, labels), Wrong: make([]bool, len(labels))}
	for i := range labels {
		g.Wrong[i] = g.Suggested[i] != labels[i]
	}
	return g
}
