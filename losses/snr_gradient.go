package losses

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// backRatios turns v into -W·2/q, row by row, and then into the gradient. pos and neg are ∂L/∂v of an active pair.
func (l *snr) backRatios(grad, factor blas32.General, cols *spreads, p *pairs, pos, neg float64) {
	l.pull, l.shift = growSlice(l.pull, len(p.rows)), growSlice(l.shift, len(p.rows))
	clear(l.pull)
	clear(l.shift)
	for i := range p.rows {
		s := features.Row(l.s, i)
		q := l.rows.q[i]
		if q == 0 {
			clear(s)
			continue
		}
		l.weighRow(s, i, cols, p, 2*pos/q, 2*neg/q)
	}
	if p.self {
		addTransposed(l.s)
		for i, w := range l.pull {
			l.s.Data[i*l.s.Stride+i] = float32(w)
		}
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, l.s, factor, 0, grad)
	if p.self {
		return
	}
	for i, w := range l.pull {
		g := blas32.Vector{N: grad.Cols, Inc: 1, Data: features.Row(grad, i)}
		blas32.Axpy(float32(w), blas32.Vector{N: grad.Cols, Inc: 1, Data: features.Row(l.c, i)}, g)
		blas32.Axpy(float32(l.shift[i]), blas32.Vector{N: grad.Cols, Inc: 1, Data: l.ones}, g)
	}
}

// weighRow converts row i: s holds v and is set to -w·2/q, where w of an active pair is pos or neg.
func (l *snr) weighRow(s []float32, i int, cols *spreads, p *pairs, pos, neg float64) {
	y, labels := p.rows[i], p.cols[:len(s)]
	means := cols.mean[:len(s)]
	var pull, shift float64
	for j, v32 := range s {
		v, w := float64(v32), 0.0
		if labels[j] != y {
			if v < l.negMargin {
				w = neg
			}
		} else if v > l.posMargin && p.areApart(i, j) {
			w = pos
		}
		s[j] = float32(-w)
		if w == 0 {
			continue
		}
		pull += w * (1 - v)
		if p.self {
			l.pull[j] += w
		} else {
			shift += w * means[j]
		}
	}
	l.pull[i] += pull
	l.shift[i] = shift
}

// balanceTerm returns the last term of the loss and adds its gradient.
func (l *snr) balanceTerm(grad *blas32.General) float64 {
	if l.reg == 0 {
		return 0
	}
	n, d := float64(l.c.Rows), float64(l.c.Cols)
	var sum float64
	for i, mean := range l.rows.mean[:l.c.Rows] {
		sum += math.Abs(mean) * d
		if grad == nil || mean == 0 {
			continue
		}
		g := blas32.Vector{N: grad.Cols, Inc: 1, Data: features.Row(*grad, i)}
		blas32.Axpy(float32(math.Copysign(l.reg/n, mean)), blas32.Vector{N: grad.Cols, Inc: 1, Data: l.ones}, g)
	}
	return l.reg / n * sum
}
