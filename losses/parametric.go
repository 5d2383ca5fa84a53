package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// parametric is a [similarity] whose function has a parameter that is not a vector to compare with, such as the
// thresholds β of the margin loss. p is nil if the settings fix the parameter.
type parametric struct {
	similarity
	own ownSim // the same function as chain.fn
	p   *features.Param
}

// ownSim is a simLoss with a parameter. loadOwn reads the parameter and resets the sums of evalPairs. It panics if
// there is no parameter for one of labels, the labels of the anchors. storeOwn computes the gradient from the sums, or
// NaN if the loss is NaN.
type ownSim interface {
	simLoss
	loadOwn(p *features.Param, labels []int)
	storeOwn(p *features.Param, loss float64)
}

// Params implements [Trainable]. It returns no parameters if the settings fix the parameter.
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
