package main

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
)

// drawClassifier is the second word of the classifier's seed. The stream of images with the same seed uses the
// words from 0 up and from the largest down.
const drawClassifier = 1 << 63

// newClassifier draws the weights, dimension by dimension of the vectors.
func newClassifier(dim, classes int, seed uint64) head.Classifier {
	c := head.NewClassifier("", classes, dim, 1)
	rng := rand.New(rand.NewPCG(seed, drawClassifier))
	for i := range dim {
		for k := range classes {
			c.Weight.Data[k*dim+i] = float32(0.05 * rng.NormFloat64())
		}
	}
	return c
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
