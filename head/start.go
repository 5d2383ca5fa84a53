package head

import (
	"math"
	"math/rand/v2"
)

// drawWeights fills the weights at random: Glorot & Bengio (AISTATS 2010), variance 2/(in+out), or, with Kaiming, He et al.
// (ICCV 2015) by the outputs, 2/out. The bias is zero.
func (h *Head) drawWeights(rng *rand.Rand) {
	w := h.weight
	variance := 2 / float64(w.Rows+w.Cols)
	if h.cfg.Init == Kaiming {
		variance = 2 / float64(w.Cols)
	}
	scale := math.Sqrt(variance)
	for i := range w.Data {
		w.Data[i] = float32(scale * rng.NormFloat64())
	}
}

// startWhitened makes the head compute the whitening w.
func (h *Head) startWhitened(w whitened) {
	copy(h.weight.Data, w.weight.Data)
	if h.bias != nil {
		copy(h.bias.Data, w.bias)
	}
	h.rank = w.rank
}
