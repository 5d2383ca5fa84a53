package peers

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// classifier names classes from a head's rows y (n×D), W being C×D:
//
//	linear  l = y·Wᵀ + b                         dy = dl·W, dW = dlᵀ·y, db = Σ_i dl_i
//	cosine  l = ŷ·Ŵᵀ/t, with ŷ = y/‖y‖ by rows    through both norms: du = (dû - û⟨û, dû⟩)/‖u‖
//
// A row of length 0 has logits 0 and passes no gradient on. All of W, and b, start uniform in ±1/√D: torch's
// Linear, and the published start of the cosine one.
// Source: METHODS 5.4, 5.5; Zhai & Wu, Classification is a Strong Baseline for Deep Metric Learning, BMVC 2019,
// equation 4 (cosine). Time: three products of n·D·C.
type classifier struct {
	weight, bias *features.Param // C×D; 1×C, nil for cosine
	scale        float32         // 1/t; 0 for linear
	y            blas32.General  // rows of the last forward
	u, w         unitRows        // their unit rows, and W's
	dy           blas32.General
}

// unitRows are the rows of a matrix divided by their norms.
type unitRows struct {
	x     blas32.General
	norms []float64
}

func newClassifier(cfg Config, prefix string, classes, dim int, rng *rand.Rand) *classifier {
	c := &classifier{weight: features.NewParam(prefix+"classifier.weight", classes, dim)}
	if cfg.Classifier == Cosine {
		c.scale = float32(1 / cfg.Temperature)
	} else {
		c.bias = features.NewParam(prefix+"classifier.bias", 1, classes)
		c.bias.NoDecay = true
	}
	bound := 1 / math.Sqrt(float64(dim))
	for _, p := range c.params() {
		for i := range p.Data {
			p.Data[i] = float32(bound * (2*rng.Float64() - 1))
		}
	}
	return c
}

func (c *classifier) params() []*features.Param {
	if c.bias == nil {
		return []*features.Param{c.weight}
	}
	return []*features.Param{c.weight, c.bias}
}

// forward overwrites logits, n×C, and keeps y for the backward.
func (c *classifier) forward(logits, y blas32.General) {
	c.y = y
	if c.scale > 0 {
		c.u.set(y)
		c.w.set(c.weight.Matrix())
		blas32.Gemm(blas.NoTrans, blas.Trans, c.scale, c.u.x, c.w.x, 0, logits)
		return
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, y, c.weight.Matrix(), 0, logits)
	for i := range logits.Rows {
		row := features.Row(logits, i)
		for j, b := range c.bias.Data {
			row[j] += b
		}
	}
}

// backward overwrites the gradients of the parameters and returns ∂L/∂y, in memory that the next one overwrites.
func (c *classifier) backward(dl blas32.General) blas32.General {
	n, d := c.y.Rows, c.y.Cols
	c.dy = features.Resize(c.dy, n, d)
	if c.scale > 0 {
		blas32.Gemm(blas.NoTrans, blas.NoTrans, c.scale, dl, c.w.x, 0, c.dy)
		blas32.Gemm(blas.Trans, blas.NoTrans, c.scale, dl, c.u.x, 0, c.weight.GradMatrix())
		c.u.pull(c.dy)
		c.w.pull(c.weight.GradMatrix())
		return c.dy
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, dl, c.weight.Matrix(), 0, c.dy)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, dl, c.y, 0, c.weight.GradMatrix())
	clear(c.bias.Grad)
	for i := range n {
		for j, g := range features.Row(dl, i) {
			c.bias.Grad[j] += g
		}
	}
	return c.dy
}

// set takes the unit rows of m.
func (u *unitRows) set(m blas32.General) {
	u.x = features.Resize(u.x, m.Rows, m.Cols)
	u.norms = u.norms[:0]
	for i := range m.Rows {
		u.norms = append(u.norms, features.UnitRow(features.Row(u.x, i), features.Row(m, i)))
	}
}

// pull turns a gradient of the unit rows into that of the rows they were made from.
func (u *unitRows) pull(d blas32.General) {
	for i := range d.Rows {
		g := features.Row(d, i)
		features.UnitRowGrad(g, features.Row(u.x, i), g, u.norms[i])
	}
}
