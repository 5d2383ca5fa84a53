package peers

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
)

// classifier computes class logits from a head's rows y (n×D); W is C×D:
//
//	linear  l = y·Wᵀ + b                         dy = dl·W, dW = dlᵀ·y, db = Σ_i dl_i
//	cosine  l = ŷ·Ŵᵀ/t, with ŷ = y/‖y‖ per row    through both norms: du = (dû - û⟨û, dû⟩)/‖u‖
//
// A row of length 0 has logits 0 and gradient 0. W and b are initialised uniformly in ±1/√D, as in torch's
// Linear and in the published cosine classifier.
// Source: METHODS 5.4, 5.5; Zhai & Wu, Classification is a Strong Baseline for Deep Metric Learning, BMVC 2019,
// equation 4 (cosine). Time: three products of n·D·C.
type classifier struct {
	head.Classifier
	cosine bool
	y      blas32.General // input of the last forwardLogits; unit rows for cosine
	u, w   unitRows       // unit rows of y and of W
	dy     blas32.General
}

// unitRows are the rows of a matrix divided by their norms.
type unitRows struct {
	x     blas32.General
	norms []float64
}

func newClassifier(cfg Config, prefix string, classes, dim int, rng *rand.Rand) *classifier {
	c := &classifier{Classifier: head.NewClassifier(prefix, classes, dim, 1), cosine: cfg.Classifier == Cosine}
	if c.cosine {
		c.Scale, c.Bias = float32(1/cfg.Temperature), nil
	}
	c.Draw(rng, c.Params()...)
	return c
}

// linearHead returns the linear classifier that forwardLogits applies to the rows c.y.
func (c *classifier) linearHead() head.Classifier {
	l := c.Classifier
	if c.cosine {
		l.Weight = &features.Param{Rows: c.Weight.Rows, Cols: c.Weight.Cols, Data: c.w.x.Data, Grad: c.Weight.Grad}
	}
	return l
}

// forwardLogits overwrites logits, n×C, and stores y for backwardLogits.
func (c *classifier) forwardLogits(logits, y blas32.General) {
	c.y = y
	if c.cosine {
		c.u.setUnitRows(y)
		c.w.setUnitRows(c.Weight.Matrix())
		c.y = c.u.x
	}
	c.linearHead().Forward(logits, c.y)
}

// backwardLogits overwrites the gradients of the parameters and returns ∂L/∂y, which the next call overwrites.
func (c *classifier) backwardLogits(dl blas32.General) blas32.General {
	c.dy = features.Resize(c.dy, c.y.Rows, c.y.Cols)
	c.linearHead().Backward(c.dy, c.y, dl, 0)
	if c.cosine {
		c.u.pullBack(c.dy)
		c.w.pullBack(c.Weight.GradMatrix())
	}
	return c.dy
}

// setUnitRows computes the unit rows of m.
func (u *unitRows) setUnitRows(m blas32.General) {
	u.x = features.Resize(u.x, m.Rows, m.Cols)
	u.norms = u.norms[:0]
	for i := range m.Rows {
		u.norms = append(u.norms, features.UnitRow(features.Row(u.x, i), features.Row(m, i)))
	}
}

// pullBack converts the gradient d with respect to the unit rows into the gradient with respect to the original rows.
func (u *unitRows) pullBack(d blas32.General) {
	for i := range d.Rows {
		g := features.Row(d, i)
		features.UnitRowGrad(g, features.Row(u.x, i), g, u.norms[i])
	}
}
