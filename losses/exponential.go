package losses

import "math"

// exponential is e^{k·δ} - 1 for distances 0 ≤ δ ≤ 4 and one k, at a third of the time of [math.Exp]: a table at
// points at most 1/(32|k|) apart, and between them a polynomial of degree 6. Relative error 3e-15, and what the
// rounding of k·δ makes. Other δ are left to [math.Expm1].
type exponential struct {
	k, per, apart float64
	table         []float64
}

func newExponential(k float64) *exponential {
	cells := 32
	for float64(cells) < 32*math.Abs(k) {
		cells *= 2 // powers of two: i·apart is exact
	}
	e := &exponential{k: k, per: float64(cells), apart: 1 / float64(cells), table: make([]float64, 4*cells+1)}
	for i := range e.table {
		e.table[i] = math.Expm1(k * float64(i) * e.apart)
	}
	return e
}

func (e *exponential) minus1(d float64) float64 {
	x := d*e.per + 0.5
	i := int(x)
	if x < 0 || uint(i) >= uint(len(e.table)) {
		return math.Expm1(e.k * d)
	}
	g := (d - float64(i)*e.apart) * e.k // |g| ≤ 1/64
	g *= 1 + g*(1./2+g*(1./6+g*(1./24+g*(1./120+g*(1./720)))))
	t := e.table[i]
	return t + g*(1+t)
}
