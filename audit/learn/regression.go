package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// regression is the expert that learns: logistic regression on the dense features and the classes of an image.
type regression struct {
	base    *base
	fixed   int // number of dense features from the evidence
	weights []float64
	prior   []float64
	lambda  []float64
}

// The strengths λ of the prior by kind of feature. λ is small for features learnt from decisions: they predict best.
const (
	lambdaStart     = 0.1 // intercept
	lambdaOdds      = 2.0
	lambdaEvidence  = 50.0
	lambdaComponent = 200.0
	lambdaHabit     = 1.0
	lambdaCentre    = 0.5
	lambdaClass     = 10.0
	lambdaPair      = 20.0
)

// newRegression lays out w as intercept, log odds, fixed dense features, features of the kernel, classes, pairs.
func newRegression(b *base) *regression {
	r := &regression{base: b, fixed: len(b.dense[0])}
	add := func(mean, lambda float64) {
		r.prior, r.lambda = append(r.prior, mean), append(r.lambda, lambda)
	}
	add(0, lambdaStart)
	add(1, lambdaOdds)
	for c := range r.fixed {
		if c < r.fixed-b.z.Cols {
			add(0, lambdaEvidence)
		} else {
			add(0, lambdaComponent)
		}
	}
	for c := range learnt {
		if c < learnt-1 {
			add(0, lambdaHabit)
		} else {
			add(0, lambdaCentre)
		}
	}
	for h := range b.kinds {
		if h < 2*b.Classes {
			add(0, lambdaClass)
		} else {
			add(0, lambdaPair)
		}
	}
	r.weights = append([]float64(nil), r.prior...)
	return r
}

// writeDenseRow writes the dense features of image i, without its own lesson.
func (r *regression) writeDenseRow(to []float64, i int, k *experience, own *lesson) {
	to[0], to[1] = 1, r.base.odds[i]
	clear(to[2+copy(to[2:], r.base.dense[i]):])
	k.writeLearntFeatures(to[2+r.fixed:], i, own)
}

func (r *regression) countDenseFeatures() int { return 2 + r.fixed + learnt }

// fitLessons fits the weights to the lessons. It starts from the prior, so that the result depends on the lessons only.
func (r *regression) fitLessons(taught []lesson, k *experience) {
	copy(r.weights, r.prior)
	if len(taught) == 0 {
		return
	}
	d, m := r.countDenseFeatures(), len(taught)
	x := make([]float64, m*d)
	for a, t := range taught {
		r.writeDenseRow(x[a*d:(a+1)*d], t.image, k, &t)
	}
	// look computes the value and the gradient together and caches them for the last point.
	var last float64
	at, slope := slices.Repeat([]float64{math.NaN()}, len(r.prior)), make([]float64, len(r.prior))
	look := func(w []float64) {
		if slices.Equal(w, at) {
			return
		}
		copy(at, w)
		v, grad := 0.0, slope
		for j := range w {
			u := w[j] - r.prior[j]
			v += r.lambda[j] / 2 * u * u
			grad[j] = r.lambda[j] * u
		}
		for a, t := range taught {
			row := x[a*d : (a+1)*d]
			eta := floats.Dot(row, w[:d])
			for _, h := range r.base.habits[t.image] {
				eta += w[d+h]
			}
			v += math.Max(eta, 0) + math.Log1p(math.Exp(-math.Abs(eta))) - t.wrong*eta
			g := invertLogit(eta) - t.wrong
			floats.AddScaled(grad[:d], g, row)
			for _, h := range r.base.habits[t.image] {
				grad[d+h] += g
			}
		}
		last = v
	}
	p := optimize.Problem{
		Func: func(w []float64) float64 { look(w); return last },
		Grad: func(grad, w []float64) { look(w); copy(grad, slope) },
	}
	settings := &optimize.Settings{GradientThreshold: 1e-3, MajorIterations: 100, Concurrent: 1,
		Converger: &optimize.FunctionConverge{Relative: 1e-7, Iterations: 5}}
	found, err := optimize.Minimize(p, r.prior, settings, &optimize.LBFGS{Store: 10})
	if found != nil && (err == nil || found.Status != optimize.Failure) && !floats.HasNaN(found.X) {
		copy(r.weights, found.X)
	}
}

// predictLogOdds writes the log odds of every image.
func (r *regression) predictLogOdds(to []float64, k *experience) {
	row := make([]float64, r.countDenseFeatures())
	for i := range to {
		r.writeDenseRow(row, i, k, nil)
		eta := floats.Dot(row, r.weights[:len(row)])
		for _, h := range r.base.habits[i] {
			eta += r.weights[len(row)+h]
		}
		to[i] = min(max(eta, -mostOdds), mostOdds)
	}
}
