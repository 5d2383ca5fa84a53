package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// classifier names the class of a vector: logits = X·W + b, with X n×dim, W dim×classes, b 1×classes.
type classifier struct {
	weight, bias *features.Param
}

// drawClassifier is the second word of the classifier's source; the stream of images with the same seed uses
// those from 0 up and from the largest down.
const drawClassifier = 1 << 63

func newClassifier(dim, classes int, seed uint64) *classifier {
	c := &classifier{features.NewParam("classifier.weight", dim, classes), features.NewParam("classifier.bias", 1, classes)}
	c.bias.NoDecay = true
	rng := rand.New(rand.NewPCG(seed, drawClassifier))
	for i := range c.weight.Data {
		c.weight.Data[i] = float32(0.05 * rng.NormFloat64())
	}
	return c
}

// forward fills the logits of the vectors x.
func (c *classifier) forward(logits, x blas32.General) {
	for i := range logits.Rows {
		copy(features.Row(logits, i), c.bias.Data)
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, c.weight.Matrix(), 1, logits)
}

// backward fills the gradients of weight and bias and dx = ∂L/∂x, from d = ∂L/∂logits.
func (c *classifier) backward(dx, x, d blas32.General) {
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, d, 0, c.weight.GradMatrix())
	clear(c.bias.Grad)
	for i := range d.Rows {
		for k, v := range features.Row(d, i) {
			c.bias.Grad[k] += v
		}
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, d, c.weight.Matrix(), 0, dx)
}

// crossEntropy overwrites the logits with ∂L/∂logits and returns the mean loss and the share of right answers.
//
//	L = -1/n Σ_i Σ_k t_ik·log softmax(logits_i)_k,  t_ik = (1-s)·[k = class_i] + s/classes
//
// Source: Szegedy et al., "Rethinking the Inception Architecture", CVPR 2016, section 7 (label smoothing).
func crossEntropy(logits blas32.General, classes []int, smooth float64) (loss, accuracy float64) {
	n, width := float64(logits.Rows), float64(logits.Cols)
	for i, class := range classes {
		row := features.Row(logits, i)
		best, total := 0, 0.0
		for k, v := range row {
			if v > row[best] {
				best = k
			}
			total += float64(v)
		}
		if best == class {
			accuracy += 1 / n
		}
		top, own, sum := float64(row[best]), float64(row[class]), 0.0
		for k, v := range row {
			e := math.Exp(float64(v) - top)
			sum += e
			row[k] = float32(e)
		}
		loss += (top + math.Log(sum) - (1-smooth)*own - smooth*total/width) / n
		for k, e := range row {
			row[k] = float32((float64(e)/sum - smooth/width) / n)
		}
		row[class] -= float32((1 - smooth) / n)
	}
	return loss, accuracy
}
