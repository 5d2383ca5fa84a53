package losses

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Slopes returns ∂L/∂s_ij of a batch with itself, n×n: row i holds those of anchor i, 0 where there is no pair, so that a
// pair stands there twice. Below 0 the loss draws i and j together, above 0 it pushes them apart. Not ok for a loss
// that is no function of the similarities within a batch: of proxies, or with memory of its own.
// The matrix is the loss's own and lasts until it is used again.
func Slopes(l Loss, z features.Set) (slopes blas32.General, ok bool) {
	s, ok := l.(*similarity)
	if !ok {
		return slopes, false
	}
	if z.Len() == 0 {
		return blas32.General{}, true
	}
	p, other := sides(z, nil, s.views)
	if _, terms := s.run(z.X, other, p, true); terms == 0 {
		clearMatrix(s.s)
	} else {
		scaleMatrix(s.s, float32(1/terms))
	}
	return s.s, true
}
