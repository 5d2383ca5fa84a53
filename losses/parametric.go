package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// parametric is a [similarity] whose function has a parameter that is not a vector to compare with: the
// thresholds β of the margin loss. p is nil if the settings fix that parameter.
type parametric struct {
	similarity
	own ownSim // the same function as chain.fn
	p   *features.Param
}

// ownSim is a simLoss with a parameter. load reads the parameter and resets the sums of eval. store writes the
// gradient that follows from those sums, or NaN if the loss is NaN. labels are those of the anchors: load
// panics if there is no parameter for one of them.
type ownSim interface {
	simLoss
	loadOwn(p *features.Param, labels []int)
	storeOwn(p *features.Param, loss float64)
}

// Params implements [Trainable]; it returns none if the settings fix the parameter.
func (l *parametric) Params() []*features.Param {
	if l.p == nil {
		return nil
	}
	return []*features.Param{l.p}
}

// Eval implements [Loss].
func (l *parametric) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	l.own.loadOwn(l.p, z.Labels)
	loss := l.similarity.Eval(grad, z, ref)
	if grad != nil && l.p != nil {
		l.own.storeOwn(l.p, loss)
	}
	return loss
}
