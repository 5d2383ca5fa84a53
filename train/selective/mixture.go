package selective

import (
	"math"

	"winnow/filters"
)

// normalMixture is a mixture of two one-dimensional normal distributions. The first has the lower mean.
type normalMixture struct {
	Mean, Variance, Weight [2]float64
}

// Limits of the EM fit. varianceFloor is added to every variance, as in the library that TCL's code uses, so that a
// component with a single value has a positive variance. The fit ends when the mean log likelihood changes by
// less than emTolerance.
const (
	varianceFloor = 1e-6
	emTolerance   = 1e-10
	emSteps       = 10000
)

// fitMixture fits a mixture to numbers by expectation maximisation, starting from the best split into two groups
// (2-means, which is exact in one dimension). ok is false if x has fewer than two distinct numbers.
//
//	r_i = w_1 N(x_i; μ_1, v_1) / Σ_k w_k N(x_i; μ_k, v_k)
//	w_k = mean r,   μ_k = Σ r x/Σ r,   v_k = Σ r (x - μ_k)²/Σ r + 10⁻⁶
//
// Time O(n log n), plus two exponentials per number and step. METHODS 13.2.
func fitMixture(x []float64) (m normalMixture, ok bool) {
	cut, ok := filters.TwoMeans(x)
	if !ok {
		return m, false
	}
	r := make([]float64, len(x)) // responsibility of the lower component for each number
	for i, v := range x {
		if v < cut {
			r[i] = 1
		}
	}
	m.fitComponents(x, r)
	for step, before := 0, math.Inf(-1); step < emSteps; step++ {
		var sum float64
		for i, v := range x {
			var l float64
			r[i], l = m.firstShare(v)
			sum += l
		}
		m.fitComponents(x, r)
		now := sum / float64(len(x))
		if math.Abs(now-before) < emTolerance {
			break
		}
		before = now
	}
	if m.Mean[0] > m.Mean[1] {
		for _, p := range []*[2]float64{&m.Mean, &m.Variance, &m.Weight} {
			p[0], p[1] = p[1], p[0]
		}
	}
	return m, true
}

// lowerShare returns the probability that x belongs to the component with the lower mean.
func (m normalMixture) lowerShare(x float64) float64 {
	p, _ := m.firstShare(x)
	return p
}

// firstShare returns the first component's share of the density at x, and the logarithm of that density.
func (m normalMixture) firstShare(x float64) (first, logDensity float64) {
	var l [2]float64
	for k := range l {
		d := x - m.Mean[k]
		l[k] = math.Log(m.Weight[k]) - (math.Log(2*math.Pi*m.Variance[k])+d*d/m.Variance[k])/2
	}
	odds := l[1] - l[0]
	top := max(l[0], l[1])
	return 1 / (1 + math.Exp(odds)), top + math.Log1p(math.Exp(-math.Abs(odds)))
}

// fitComponents fits both components to x. r is the responsibility of the first component for each number.
func (m *normalMixture) fitComponents(x, r []float64) {
	var n, sum [2]float64
	for i, v := range x {
		n[0], sum[0] = n[0]+r[i], sum[0]+r[i]*v
		n[1], sum[1] = n[1]+(1-r[i]), sum[1]+(1-r[i])*v
	}
	for k := range n {
		n[k] += 10 * 0x1p-52 // avoids 0/0 for a component without any numbers
		m.Mean[k], m.Weight[k] = sum[k]/n[k], n[k]/float64(len(x))
	}
	var squares [2]float64
	for i, v := range x {
		a, b := v-m.Mean[0], v-m.Mean[1]
		squares[0] += r[i] * a * a
		squares[1] += (1 - r[i]) * b * b
	}
	for k := range n {
		m.Variance[k] = squares[k]/n[k] + varianceFloor
	}
}
