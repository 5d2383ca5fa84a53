package head

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// drawAll fills every weight at random: He et al. (ICCV 2015), variance 2/in, before an activation; for the last layer
// Glorot & Bengio (AISTATS 2010), variance 2/(in+out), or, with Kaiming, He et al. by the outputs, 2/out. Biases are
// zero.
func (h *Head) drawAll(rng *rand.Rand) {
	for _, l := range h.layers {
		l.drawLayer(rng, h.cfg.Init)
	}
}

func (l layer) drawLayer(rng *rand.Rand, init string) {
	w := l.weight
	variance := 2 / float64(w.Rows+w.Cols)
	switch {
	case l.relu:
		variance = 2 / float64(w.Rows)
	case init == Kaiming:
		variance = 2 / float64(w.Cols)
	}
	scale := math.Sqrt(variance)
	for i := range w.Data {
		w.Data[i] = float32(scale * rng.NormFloat64())
	}
}

// startWhitened makes the head compute the whitening w, whatever its layers.
//
// A hidden layer of width ≥ 2r passes r dimensions unchanged as the pair relu(a), relu(-a), because
// relu(a) - relu(-a) = a. A perceptron thus starts as the whitened linear head and cannot start worse. Units
// beyond the pairs start as random directions that the next layer ignores (weight 0) until training uses them. If
// a layer is narrower than 2·Out, r is half its width and the last outputs start at zero.
func (h *Head) startWhitened(w whitened, rng *rand.Rand) {
	first := h.layers[0]
	if len(h.layers) == 1 {
		copy(first.weight.Data, w.weight.Data)
		if first.bias != nil {
			copy(first.bias.Data, w.bias)
		}
		h.rank = w.rank
		return
	}
	r := w.rank
	for _, width := range h.cfg.Hidden {
		r = min(r, width/2)
	}
	h.rank = r
	mirrorFirst(first, w, r, rng)
	for _, l := range h.layers[1:] {
		if l.relu {
			l.drawLayer(rng, Random)
		}
		passPairs(l, r)
	}
}

// mirrorFirst fills the first layer: unit 2k is whitened direction k, unit 2k+1 its opposite, and the rest are
// random unit combinations of the whitened directions.
func mirrorFirst(l layer, w whitened, r int, rng *rand.Rand) {
	mix := features.NewMatrix(w.rank, l.weight.Cols)
	for k := range r {
		mix.Data[k*mix.Stride+2*k] = 1
		mix.Data[k*mix.Stride+2*k+1] = -1
	}
	for j := 2 * r; j < mix.Cols; j++ {
		for k := range w.rank {
			mix.Data[k*mix.Stride+j] = float32(rng.NormFloat64() / math.Sqrt(float64(w.rank)))
		}
	}
	multiplyInto(l.weight.Matrix(), firstColumns(w.weight, w.rank), mix)
	if l.bias != nil {
		bias := blas32.General{Rows: 1, Cols: w.rank, Stride: w.rank, Data: w.bias[:w.rank]}
		multiplyInto(l.bias.Matrix(), bias, mix)
	}
}

// passPairs makes a layer pass on the r values in its first 2r inputs: to a pair again if an activation
// follows, or to one output each in the last layer. No other input has a weight to those outputs, and in the
// last layer none has any weight.
func passPairs(l layer, r int) {
	w := l.weight
	if !l.relu {
		clear(w.Data)
		for k := range r {
			w.Data[(2*k)*w.Cols+k] = 1
			w.Data[(2*k+1)*w.Cols+k] = -1
		}
		return
	}
	for i := range w.Rows {
		clear(w.Data[i*w.Cols : i*w.Cols+2*r])
	}
	for k := range r {
		for _, from := range []int{2 * k, 2*k + 1} {
			sign := float32(1 - 2*(from-2*k))
			w.Data[from*w.Cols+2*k] = sign
			w.Data[from*w.Cols+2*k+1] = -sign
		}
	}
}

// firstColumns returns a view of the first n columns of m.
func firstColumns(m blas32.General, n int) blas32.General {
	m.Cols = n
	return m
}

// multiplyInto overwrites c with a·b.
func multiplyInto(c, a, b blas32.General) { blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) }
