package selective

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// classifierLength is what unit rows are multiplied by before the classifier. The largest curvature of cross entropy in
// the weights is half the squared length of a row, so that at 4 the published rate of 0.1 with momentum 0.9 stays well
// inside what is stable, and weights of ordinary size still make sure predictions.
const classifierLength = 4

// classifier names classes from unit rows: l = 4·u·Wᵀ + b, W being C×D. W starts uniform in ±1/√D, as torch's Linear.
type classifier struct {
	weight, bias *features.Param
}

func newClassifier(prefix string, classes, dim int, rng *rand.Rand) classifier {
	c := classifier{features.NewParam(prefix+"classifier.weight", classes, dim), features.NewParam(prefix+"classifier.bias", 1, classes)}
	c.bias.NoDecay = true
	if rng != nil {
		bound := 1 / math.Sqrt(float64(dim))
		for i := range c.weight.Data {
			c.weight.Data[i] = float32(bound * (2*rng.Float64() - 1))
		}
	}
	return c
}

func (c classifier) params() []*features.Param { return []*features.Param{c.weight, c.bias} }

// forward overwrites logits, n×C.
func (c classifier) forward(logits, u blas32.General) {
	blas32.Gemm(blas.NoTrans, blas.Trans, classifierLength, u, c.weight.Matrix(), 0, logits)
	for i := range logits.Rows {
		row := features.Row(logits, i)
		for j, b := range c.bias.Data {
			row[j] += b
		}
	}
}

// backward overwrites the gradients of the parameters and adds ∂L/∂u to du.
func (c classifier) backward(du, u, dl blas32.General) {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, classifierLength, dl, c.weight.Matrix(), 1, du)
	blas32.Gemm(blas.Trans, blas.NoTrans, classifierLength, dl, u, 0, c.weight.GradMatrix())
	clear(c.bias.Grad)
	for i := range dl.Rows {
		for j, g := range features.Row(dl, i) {
			c.bias.Grad[j] += g
		}
	}
}
