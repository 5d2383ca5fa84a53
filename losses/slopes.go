package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Slopes returns ∂L/∂s_ij of a batch compared with itself, n×n. Row i holds the slopes of anchor i and 0 for columns
// that are not pairs, so that a pair occurs twice. A slope below 0 pulls i and j together, a slope above 0 pushes them
// apart. ok is false for a loss that is not a function of the similarities within a batch, such as a loss with proxies
// or its own memory. The matrix belongs to the loss and is valid until the loss is used again.
func Slopes(l Loss, z features.Set) (slopes blas32.General, ok bool) {
	s, ok := l.(*similarity)
	if !ok {
		return slopes, false
	}
	if z.Len() == 0 {
		return blas32.General{}, true
	}
	p, other := batchPairs(z, nil, s.views)
	if _, terms := s.runChain(z.X, other, p, true); terms == 0 {
		clearMatrix(s.s)
	} else {
		scaleMatrix(s.s, float32(1/terms))
	}
	return s.s, true
}
