package losses

import "math"

// circleGlobal is the form of circle with one term for all pairs. The gradient of every pair depends on the sums, so
// they are computed before the first block is evaluated.
type circleGlobal struct {
	circle
	near, far logSum // over all positive pairs, and over all negative pairs
}

func (l *circleGlobal) surveyPairs(S []float64, p *pairs) {
	if p.first == 0 {
		l.near, l.far = logSum{top: math.Inf(-1)}, logSum{top: math.Inf(-1)}
	}
	r := len(p.cols)
	l.v = growSlice(l.v, r)
	for i := range p.rows {
		s := rowOfBlock(S, i, r)
		nearTop, farTop := l.fillExponents(s, i, p, p.firstNewColumn(i))
		l.near.raiseTop(nearTop)
		l.far.raiseTop(farTop)
		near, far := l.sumExponentials(nil, s, i, p, l.near.top, l.far.top)
		l.near.sum += near
		l.far.sum += far
	}
}

func (l *circleGlobal) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	if l.near.sum == 0 || l.far.sum == 0 {
		clear(dS)
		return 0, 0
	}
	value, slope := softplusSlope(l.near.logOfSum() + l.far.logOfSum())
	r := len(p.cols)
	for i := 0; i < len(p.rows) && dS != nil; i++ {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		l.fillExponents(s, i, p, p.firstNewColumn(i))
		l.sumExponentials(d, s, i, p, l.near.top, l.far.top)
		weighExponentials(d, l.gamma*slope/l.near.sum, l.gamma*slope/l.far.sum)
	}
	return value * p.plainTerms(), p.plainTerms()
}

// firstNewColumn returns the first column at which anchor i forms pairs that earlier anchors have not formed.
func (p *pairs) firstNewColumn(i int) int {
	if p.self {
		return p.first + i + 1
	}
	return 0
}

// logSum is the logarithm of a growing sum of exponentials, scaled by the largest exponential.
type logSum struct{ top, sum float64 }

// raiseTop rescales the sum if top is larger than every exponent so far.
func (l *logSum) raiseTop(top float64) {
	if top > l.top {
		l.sum *= math.Exp(l.top - top)
		l.top = top
	}
}

func (l logSum) logOfSum() float64 { return l.top + math.Log(l.sum) }
