package losses

import (
	"math"

	"winnow/features"
)

// raisePowers computes the powers of e for one row of similarities.
func (l *sclRHE) raisePowers(s []float64) {
	features.ExpSlice(l.e, s, l.inverse, 0)
	fillPowers(l.f, l.e, s, l.tiltNeg, l.inverse)
	switch l.tilt {
	case l.tiltNeg:
		copy(l.h, l.f)
	case -l.tiltNeg:
		for j, f := range l.f {
			l.h[j] = 1 / f
		}
	default:
		fillPowers(l.h, l.e, s, l.tilt, l.inverse)
	}
}

// fillPowers fills dst with e^{b·s·inverse}; e holds e^{s·inverse}.
func fillPowers(dst, e, s []float64, b, inverse float64) {
	switch b {
	case 0:
		for j := range dst {
			dst[j] = 1
		}
	case 1:
		copy(dst, e)
	case 0.5:
		for j, v := range e {
			dst[j] = math.Sqrt(v)
		}
	default:
		features.ExpSlice(dst, s, b*inverse, 0)
	}
}

// tilted holds the sums over P(i) or N(i) from which iw is computed: Σ e^{(1+b)v} and Σ e^{bv} for both tilts.
type tilted struct{ count, eh, h, ef, f float64 }

func (l *sclRHE) collectTilts(i int, p *pairs) (pos, neg tilted) {
	y, cols := p.rows[i], p.cols
	e, h, f := l.e[:len(cols)], l.h[:len(cols)], l.f[:len(cols)]
	var count int
	var sumEH, sumH, sumEF, sumF float64 // local, to stay in registers: there are many negatives
	for j, c := range cols {
		if c != y {
			count++
			sumEH += e[j] * h[j]
			sumH += h[j]
			sumEF += e[j] * f[j]
			sumF += f[j]
		} else if p.areApart(i, j) {
			pos.count++
			pos.eh += e[j] * h[j]
			pos.h += h[j]
			pos.ef += e[j] * f[j]
			pos.f += f[j]
		}
	}
	return pos, tilted{float64(count), sumEH, sumH, sumEF, sumF}
}

// pullCoefficients returns the coefficients k of the derivatives for one group: ∂l_i/∂s_j = h_j (k₀ e_j + k₁) + f_j (k₂
// e_j + k₃), from ∂iw(v, b)/∂v_j = e^{bv_j} [(1+b) e^{v_j} - b·iw] / Σ e^{bv}.
func (l *sclRHE) pullCoefficients(g *tilted, byTilt, byTiltNeg float64) [4]float64 {
	u, w := byTilt*l.inverse/g.h, byTiltNeg*l.inverse/g.f
	return [4]float64{
		u * (1 + l.tilt), -u * l.tilt * (g.eh / g.h),
		w * (1 + l.tiltNeg), -w * l.tiltNeg * (g.ef / g.f),
	}
}

// spreadTilts writes the derivatives of anchor i to d, with 0 for columns that are not pairs.
func (l *sclRHE) spreadTilts(d []float64, i int, p *pairs, pos, neg [4]float64) {
	y, cols := p.rows[i], p.cols[:len(d)]
	e, h, f := l.e[:len(d)], l.h[:len(d)], l.f[:len(d)]
	for j, c := range cols {
		if c != y {
			d[j] = h[j]*(neg[0]*e[j]+neg[1]) + f[j]*(neg[2]*e[j]+neg[3])
		} else if p.areApart(i, j) {
			d[j] = h[j]*(pos[0]*e[j]+pos[1]) + f[j]*(pos[2]*e[j]+pos[3])
		}
	}
}
