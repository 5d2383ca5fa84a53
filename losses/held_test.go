package losses

import "math"

// heldCircle is the circle loss by loops, with its factors from other similarities: its differences are the gradient
// of the loss, which counts the factors as constants.
type heldCircle struct {
	m, gamma float64
	global   bool
	at       []float64 // where the factors are from
}

func holdCircle(fn simLoss, S []float64) simLoss {
	switch fn := fn.(type) {
	case *circle:
		return heldCircle{fn.m, fn.gamma, false, S}
	case *circleGlobal:
		return heldCircle{fn.m, fn.gamma, true, S}
	}
	panic("not a circle loss")
}

func (l heldCircle) eval(dS, S []float64, p *pairs) (sum, terms float64) {
	clear(dS)
	var pull, push float64
	for i := range p.rows {
		if !l.global {
			pull, push = 0, 0
		}
		for j := range p.cols {
			at, s := l.at[i*len(p.cols)+j], S[i*len(p.cols)+j]
			switch {
			case l.global && p.self && j <= i:
			case p.positive(i, j):
				pull += math.Exp(-l.gamma * math.Max(0, 1+l.m-at) * (s - 1 + l.m))
			case p.rows[i] != p.cols[j]:
				push += math.Exp(l.gamma * math.Max(0, at+l.m) * (s - l.m))
			}
		}
		if !l.global && pull > 0 && push > 0 {
			sum += math.Log1p(pull * push)
			terms++
		}
	}
	if !l.global {
		return sum, terms
	}
	return math.Log1p(pull * push), 1
}
