package losses

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// similarity is a Loss of pairs or triplets: of a batch with itself, or with a bank of constant vectors.
//
//	S = z·zᵀ:    ∂L/∂z = (W + Wᵀ) z / terms     S = z·vᵀ:    ∂L/∂z = W v / terms     with W = ∂sum/∂S
//
// It takes the memory of n·r float32 numbers and two blocks, which it reuses for batches of the same size or smaller.
// Source: METHODS 1.1.
type similarity struct{ chain }

// Eval implements [Loss].
func (l *similarity) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	checkGrad(grad, z)
	p, other := batchPairs(z, ref, l.views)
	if z.Len() == 0 || other.Rows == 0 {
		return zeroGradient(grad)
	}
	l.listing = ref != nil && !l.columns
	sum, terms := l.runChain(z.X, other, p, grad != nil)
	if terms == 0 {
		return zeroGradient(grad)
	}
	switch {
	case grad == nil:
	case l.entries.few:
		l.entries.multiplySparse(*grad, l.s, other, float32(1/terms))
	default:
		if ref == nil {
			addTransposed(l.s)
		}
		blas32.Gemm(blas.NoTrans, blas.NoTrans, float32(1/terms), l.s, other, 0, *grad)
	}
	return sum / terms
}

// batchPairs returns the pairs of a batch with itself (ref nil) or with ref, and the vectors that the batch is
// compared with. views means that rows of one image are views of it.
func batchPairs(z features.Set, ref *features.Set, views bool) (pairs, blas32.General) {
	checkSet("the batch", z, z.Dim())
	if ref == nil {
		p := pairs{rows: z.Labels, cols: z.Labels, self: true, ids: z.IDs, anchors: z.IDs, members: z.IDs}
		if views {
			p.ids = nil
		}
		return p, z.X
	}
	checkSet("the reference", *ref, z.Dim())
	return pairs{rows: z.Labels, cols: ref.Labels, anchors: z.IDs, members: ref.IDs}, ref.X
}

// zeroGradient returns the result if there is nothing to compare.
func zeroGradient(grad *blas32.General) float64 {
	if grad != nil {
		clearMatrix(*grad)
	}
	return 0
}

// notANumber returns the result if a row is not finite.
func notANumber(grad *blas32.General) float64 {
	nan := math.NaN()
	if grad != nil {
		for i := range grad.Rows {
			row := features.Row(*grad, i)
			for k := range row {
				row[k] = float32(nan)
			}
		}
	}
	return nan
}
