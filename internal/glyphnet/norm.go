package main

import (
	"math"

	"winnow/features"
)

// norm is batch normalisation followed by a rectifier, per channel c over the rows r of a batch:
//
//	y_rc = max(0, γ_c·(x_rc - μ_c)/√(σ²_c + ε) + β_c)
//
// with μ, σ² of the batch in training, and their running averages otherwise.
// Source: Ioffe & Szegedy, Batch Normalization, ICML 2015, algorithm 1.
type norm struct {
	channels       int
	gamma, beta    *features.Param
	mean, variance []float32 // running, for use after training
	x, y, dx       []float32
	batchMean      []float32
	batchScale     []float32 // 1/√(σ²+ε)
}

const (
	epsilon = 1e-5
	decay   = 0.95 // of the running averages: 60 batches reach back 95 %
)

func newNorm(name string, channels int) *norm {
	b := &norm{channels: channels, gamma: features.NewParam(name+".gamma", 1, channels), beta: features.NewParam(name+".beta", 1, channels)}
	b.gamma.NoDecay, b.beta.NoDecay = true, true
	b.mean, b.variance = make([]float32, channels), make([]float32, channels)
	b.batchMean, b.batchScale = make([]float32, channels), make([]float32, channels)
	for c := range channels {
		b.gamma.Data[c], b.variance[c] = 1, 1
	}
	return b
}

// forward normalises and rectifies the rows of x. It keeps x until backward.
func (b *norm) forward(x []float32, training bool) []float32 {
	rows := len(x) / b.channels
	b.x, b.y = x, sized(b.y, len(x))
	if training {
		b.measure(x, rows)
	} else {
		b.useAverages()
	}
	factor, shift := b.affine()
	inChunks(rows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			in, out := x[r*b.channels:(r+1)*b.channels], b.y[r*b.channels:(r+1)*b.channels]
			for c, v := range in {
				out[c] = max(0, v*factor[c]+shift[c])
			}
		}
	})
	return b.y
}

// useAverages puts the running statistics where the batch's were.
func (b *norm) useAverages() {
	copy(b.batchMean, b.mean)
	for c, v := range b.variance {
		b.batchScale[c] = float32(1 / math.Sqrt(float64(v)+epsilon))
	}
}

// affine is the normalisation as y = factor·x + shift.
func (b *norm) affine() (factor, shift []float32) {
	factor, shift = make([]float32, b.channels), make([]float32, b.channels)
	for c := range factor {
		factor[c] = b.gamma.Data[c] * b.batchScale[c]
		shift[c] = b.beta.Data[c] - b.batchMean[c]*factor[c]
	}
	return factor, shift
}

// measure takes the batch's mean and variance, and moves the running ones.
func (b *norm) measure(x []float32, rows int) {
	w := b.channels
	sums := columnSums(rows, 2*w, func(sum []float64, lo, hi int) {
		for r := lo; r < hi; r++ {
			for c, v := range x[r*w : (r+1)*w] {
				sum[c] += float64(v)
				sum[w+c] += float64(v) * float64(v)
			}
		}
	})
	for c := range w {
		mean := sums[c] / float64(rows)
		variance := max(sums[w+c]/float64(rows)-mean*mean, 0)
		b.batchMean[c] = float32(mean)
		b.batchScale[c] = float32(1 / math.Sqrt(variance+epsilon))
		unbiased := variance * float64(rows) / float64(max(rows-1, 1))
		b.mean[c] = decay*b.mean[c] + (1-decay)*float32(mean)
		b.variance[c] = decay*b.variance[c] + (1-decay)*float32(unbiased)
	}
}

// backward goes through the rectifier and the normalisation, batch statistics included; dy is overwritten
// with the gradient before the rectifier.
//
//	∂L/∂x_rc = γ_c·s_c·(g_rc - mean_r g_rc - x̂_rc·mean_r(g_rc·x̂_rc))
func (b *norm) backward(dy []float32) []float32 {
	w, rows := b.channels, len(dy)/b.channels
	sums := columnSums(rows, 2*w, func(sum []float64, lo, hi int) {
		for r := lo; r < hi; r++ {
			g, x, y := dy[r*w:(r+1)*w], b.x[r*w:(r+1)*w], b.y[r*w:(r+1)*w]
			for c, v := range y {
				if v <= 0 {
					g[c] = 0
					continue
				}
				sum[c] += float64(g[c])
				sum[w+c] += float64(g[c]) * float64((x[c]-b.batchMean[c])*b.batchScale[c])
			}
		}
	})
	// dx = p·g + q·x + r, with the means folded into three numbers a channel.
	p, q, k := make([]float32, w), make([]float32, w), make([]float32, w)
	for c := range w {
		b.beta.Grad[c], b.gamma.Grad[c] = float32(sums[c]), float32(sums[w+c])
		s := float64(b.batchScale[c])
		factor := float64(b.gamma.Data[c]) * s
		slope := -factor * s * sums[w+c] / float64(rows)
		p[c], q[c] = float32(factor), float32(slope)
		k[c] = float32(-factor*sums[c]/float64(rows) - slope*float64(b.batchMean[c]))
	}
	b.dx = sized(b.dx, len(dy))
	inChunks(rows, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			g, x, dx := dy[r*w:(r+1)*w], b.x[r*w:(r+1)*w], b.dx[r*w:(r+1)*w]
			for c := range dx {
				dx[c] = p[c]*g[c] + q[c]*x[c] + k[c]
			}
		}
	})
	return b.dx
}
