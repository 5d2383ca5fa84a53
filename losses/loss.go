// Package losses computes losses and their gradients. Every loss of winnow is an ordinary function of labelled
// unit vectors and can be tested without a graph. The package is pure: no files, clock or log. A loss that
// draws (semi-hard negatives) is given its random source.
//
// Similarities s = z·refᵀ grow when closer. Matrix products are float32; everything computed from the
// similarities is float64. In all comments z is n×d and the reference it is compared with r×d, both with unit
// rows; s_ij is their similarity, d_ij the distance, D_ij its square; P(i) and N(i) are the positives and
// negatives of row i, see [pairs]; σ is the logistic function, [x]₊ = max(x, 0), 1[…] is 1 where the condition
// holds and 0 elsewhere. 000 to 004 are the five papers that winnow implements.
//
// A loss without any pair to compare returns 0 and a zero gradient, never NaN. A row that is not finite makes
// value and gradient NaN, so that the trainer can stop at that step. A Loss keeps scratch memory between calls,
// so only one goroutine may use it.
package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Loss compares z with ref or, if ref is nil, with itself, where no row is compared with itself. Eval returns
// the loss and, if grad is not nil, overwrites it with ∂loss/∂z. z has unit rows; ref is constant. The gradient
// is with respect to the unit rows as given; it does not go through their normalisation.
type Loss interface {
	Eval(grad *blas32.General, z features.Set, ref *features.Set) float64
}

// Weighted is a loss that takes a weight in [0, 1] for every sample: w[i] is the weight of the row or bank
// member with ID i. w is kept, not copied; nil, the initial state, means 1 for all. With weights, z and ref
// must carry IDs. Weights are constants in the gradient.
type Weighted interface {
	Loss
	SetWeights(w []float64)
}

// Trainable is a loss with parameters of its own (proxies, class weights). Eval also overwrites their Grad when
// grad is not nil. Every catalog entry that has parameters says so in Entry.Params; there is no guessing by
// type assertion.
type Trainable interface {
	Loss
	Params() []*features.Param
}
