package head

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Classifier is a linear layer that computes class logits l from rows u; W is C×D:
//
//	l = s·u·Wᵀ + b        ∂L/∂u = s·dl·W, ∂L/∂W = s·dlᵀ·u, ∂L/∂b = Σ_i dl_i
//
// Time: three products of n·D·C.
type Classifier struct {
	Weight, Bias *features.Param // C×D; 1×C, or nil without a bias
	Scale        float32         // s
}

// NewClassifier returns a classifier with a bias. All weights are zero, and their names start with prefix.
func NewClassifier(prefix string, classes, dim int, scale float32) Classifier {
	c := Classifier{features.NewParam(prefix+"classifier.weight", classes, dim),
		features.NewParam(prefix+"classifier.bias", 1, classes), scale}
	c.Bias.NoDecay = true
	return c
}

// Params returns the weight and, if there is one, the bias.
func (c Classifier) Params() []*features.Param {
	if c.Bias == nil {
		return []*features.Param{c.Weight}
	}
	return []*features.Param{c.Weight, c.Bias}
}

// Draw fills the given parameters of the classifier with uniform random numbers in ±1/√D, like torch's Linear.
func (c Classifier) Draw(rng *rand.Rand, params ...*features.Param) {
	bound := 1 / math.Sqrt(float64(c.Weight.Cols))
	for _, p := range params {
		for i := range p.Data {
			p.Data[i] = float32(bound * (2*rng.Float64() - 1))
		}
	}
}

// Forward overwrites logits, n×C, with the logits of the rows u.
func (c Classifier) Forward(logits, u blas32.General) {
	blas32.Gemm(blas.NoTrans, blas.Trans, c.Scale, u, c.Weight.Matrix(), 0, logits)
	if c.Bias == nil {
		return
	}
	for i := range logits.Rows {
		row := features.Row(logits, i)
		for j, b := range c.Bias.Data {
			row[j] += b
		}
	}
}

// Backward overwrites the gradients of the parameters and sets du to keep·du + ∂L/∂u.
func (c Classifier) Backward(du, u, dl blas32.General, keep float32) {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, c.Scale, dl, c.Weight.Matrix(), keep, du)
	blas32.Gemm(blas.Trans, blas.NoTrans, c.Scale, dl, u, 0, c.Weight.GradMatrix())
	if c.Bias == nil {
		return
	}
	clear(c.Bias.Grad)
	for i := range dl.Rows {
		for j, g := range features.Row(dl, i) {
			c.Bias.Grad[j] += g
		}
	}
}
