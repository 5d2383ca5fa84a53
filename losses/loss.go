// Package losses computes numbers and their gradients: every loss of winnow is an ordinary function of
// labelled unit vectors, testable without a graph. Pure: no files, clock, goroutines or log; a loss that
// draws (semi-hard negatives) is handed its random source.
//
// Similarities s = z·refᵀ grow when closer; float32 in the matrix products, float64 from the similarity on.
// In every comment: z is n×d and what it is compared with r×d, unit rows both; s_ij is their similarity, d_ij the
// distance, D_ij its square; P(i) and N(i) are the positives and negatives of row i, see [pairs]; σ is the logistic
// function, [x]₊ = max(x, 0), 1[…] is 1 where it holds. 000 to 004 are the five papers that winnow implements.
//
// A loss with nothing to work on returns 0 and a zero gradient, never NaN; a row that is not finite makes
// value and gradient NaN, so that the trainer can stop at its step. A Loss keeps scratch memory between
// calls: it is for one goroutine.
package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Loss compares z with ref — or, if ref is nil, with itself, leaving each row out of its own comparison —
// returns the loss and, if grad is not nil, overwrites it with ∂loss/∂z. z has unit rows; ref is constant.
// The gradient is with respect to the unit rows as given, not through their normalisation.
type Loss interface {
	Eval(grad *blas32.General, z features.Set, ref *features.Set) float64
}

// Weighted is a loss that takes a weight in [0, 1] for every sample: w[i] is that of the row or bank member with
// ID i. w is kept, not copied; nil, as at first, is 1 for all. With weights, z and ref must carry IDs.
// Weights are constants in the gradient.
type Weighted interface {
	Loss
	SetWeights(w []float64)
}

// Trainable is a loss with parameters of its own (proxies, class weights). Eval also overwrites their Grad
// when grad is not nil. Every entry of the catalog that owns parameters says so there (no guessing by
// type assertion).
type Trainable interface {
	Loss
	Params() []*features.Param
}
