package main

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// layer is one block of the network: a convolution to `out` channels.
type layer struct{ out, kernel, stride int }

// shape is glyphnet: 32×32 → 16×16 → 8×8 → 8×8 → 4×4 → 4×4, averaged over the last 16 places.
var shape = []layer{{24, 5, 2}, {48, 3, 2}, {96, 3, 1}, {128, 3, 2}, {192, 3, 1}}

// net is a stack of convolution, batch normalisation and rectifier, then the average over all places — the
// features — and a linear classifier that only training needs.
type net struct {
	convs          []*conv
	norms          []*norm
	weight, bias   *features.Param // features×classes, 1×classes
	dim, classes   int
	feats, logits  []float32
	dFeats, spread []float32
}

func newNet(side, channels int, shape []layer, classes int, rng *rand.Rand) *net {
	m := &net{classes: classes}
	for i, l := range shape {
		name := "block" + string(rune('1'+i))
		c := newConv(name, side, channels, l.out, l.kernel, l.stride, rng)
		m.convs = append(m.convs, c)
		m.norms = append(m.norms, newNorm(name, l.out))
		side, channels = c.outSide, l.out
	}
	m.dim = channels
	m.weight = features.NewParam("classifier.weight", m.dim, classes)
	m.bias = features.NewParam("classifier.bias", 1, classes)
	m.bias.NoDecay = true
	for i := range m.weight.Data {
		m.weight.Data[i] = float32(0.05 * rng.NormFloat64())
	}
	return m
}

// params lists everything that training changes, in a fixed order.
func (m *net) params() []*features.Param {
	var list []*features.Param
	for i, c := range m.convs {
		list = append(list, c.weight, m.norms[i].gamma, m.norms[i].beta)
	}
	return append(list, m.weight, m.bias)
}

// features runs n images (NHWC) and returns n×dim vectors, valid until the next call.
func (m *net) features(x []float32, n int, training bool) []float32 {
	for i, c := range m.convs {
		x = m.norms[i].forward(c.forward(x, n), training)
	}
	m.feats = sized(m.feats, n*m.dim)
	places := len(x) / (n * m.dim)
	inChunks(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out := m.feats[i*m.dim : (i+1)*m.dim]
			clear(out)
			for p := range places {
				for c, v := range x[(i*places+p)*m.dim:][:m.dim] {
					out[c] += v
				}
			}
			for c := range out {
				out[c] /= float32(places)
			}
		}
	})
	return m.feats
}

// classify returns the n×classes logits of the features.
func (m *net) classify(feats []float32, n int) []float32 {
	m.logits = sized(m.logits, n*m.classes)
	for i := range n {
		copy(m.logits[i*m.classes:], m.bias.Data)
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, matrix(feats, n, m.dim), m.weight.Matrix(), 1, matrix(m.logits, n, m.classes))
	return m.logits
}

// backward fills all gradients from ∂L/∂logits of the last forward in training.
func (m *net) backward(dLogits []float32, n int) {
	g := matrix(dLogits, n, m.classes)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, matrix(m.feats, n, m.dim), g, 0, m.weight.GradMatrix())
	clear(m.bias.Grad)
	for i := range n {
		for j, v := range dLogits[i*m.classes : (i+1)*m.classes] {
			m.bias.Grad[j] += v
		}
	}
	m.dFeats = sized(m.dFeats, n*m.dim)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, g, m.weight.Matrix(), 0, matrix(m.dFeats, n, m.dim))

	last := m.convs[len(m.convs)-1]
	places := last.outSide * last.outSide
	m.spread = sized(m.spread, n*places*m.dim)
	for i := range n {
		for p := range places {
			for c, v := range m.dFeats[i*m.dim : (i+1)*m.dim] {
				m.spread[(i*places+p)*m.dim+c] = v / float32(places)
			}
		}
	}
	dy := m.spread
	for i := len(m.convs) - 1; i >= 0; i-- {
		dy = m.convs[i].backward(m.norms[i].backward(dy), n, i > 0)
	}
}
