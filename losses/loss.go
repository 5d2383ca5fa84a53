// Package losses computes losses and their gradients. Every loss is an ordinary function of labelled unit vectors and
// can be tested without a graph. The package uses no files, clock or log. A loss that draws random numbers (semi-hard
// negatives) gets its random source from the caller.
//
// Similarities s = z·refᵀ grow with closeness. Matrix products are float32; all values computed from the similarities
// are float64. In all comments z is n×d and its reference r×d, both with unit rows; s_ij is their similarity, d_ij the
// distance, D_ij its square; P(i) and N(i) are the positives and negatives of row i, see [pairs]; σ is the logistic
// function, [x]₊ = max(x, 0), 1[…] is 1 where the condition holds and 0 elsewhere. 000 to 004 are the five papers that
// winnow implements.
//
// A loss without any pair to compare returns 0 and a zero gradient, never NaN. A row that is not finite makes value
// and gradient NaN, so that the trainer can stop at that step. A Loss keeps scratch memory between calls, so only one
// goroutine may use it.
package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Loss compares z with ref or, if ref is nil, with itself, leaving out each row's comparison with itself. Eval returns
// the loss and, unless grad is nil, overwrites grad with ∂loss/∂z. z has unit rows; ref is constant. The gradient is
// with respect to the unit rows; it does not include their normalisation.
type Loss interface {
	Eval(grad *blas32.General, z features.Set, ref *features.Set) float64
}

// Weighted is a loss that takes a weight in [0, 1] for every sample: w[i] is the weight of the row or bank member with
// ID i. w is not copied; nil, the initial state, means weight 1 for all samples. With weights, z and ref must have
// IDs. Weights are constants in the gradient.
type Weighted interface {
	Loss
	SetWeights(w []float64)
}

// Trainable is a loss with its own parameters (proxies, class weights). Unless grad is nil, Eval also overwrites the
// parameters' Grad. Entry.Params of the catalog shows which losses are Trainable, so that callers need no type
// assertion.
type Trainable interface {
	Loss
	Params() []*features.Param
}
