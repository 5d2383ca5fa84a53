package main

import (
	"math"

	"winnow/features"
)

// adam is AdamW with bias correction: decay acts on the weights themselves, not through the gradient.
// Source: Loshchilov & Hutter, Decoupled Weight Decay Regularization, ICLR 2019, algorithm 2.
type adam struct {
	params        []*features.Param
	first, second [][]float32
	decay         float64
	steps         int
}

const beta1, beta2 = 0.9, 0.999

func newAdam(params []*features.Param, decay float64) *adam {
	a := &adam{params: params, decay: decay}
	for _, p := range params {
		a.first = append(a.first, make([]float32, len(p.Data)))
		a.second = append(a.second, make([]float32, len(p.Data)))
	}
	return a
}

func (a *adam) step(rate float64) {
	a.steps++
	size := float32(rate / (1 - math.Pow(beta1, float64(a.steps))))
	correct := float32(1 / math.Sqrt(1-math.Pow(beta2, float64(a.steps))))
	for i, p := range a.params {
		keep := float32(1 - rate*a.decay)
		if p.NoDecay {
			keep = 1
		}
		m, v := a.first[i], a.second[i]
		for j, g := range p.Grad {
			m[j] = beta1*m[j] + (1-beta1)*g
			v[j] = beta2*v[j] + (1-beta2)*g*g
			p.Data[j] = keep*p.Data[j] - size*m[j]/(correct*float32(math.Sqrt(float64(v[j])))+1e-8)
		}
	}
}
