package losses

import (
	"math"

	"winnow/features"
)

// rdml bounds the hinge of every triplet, which limits the gradient of a triplet with a wrong label.
//
//	L = R over all (a, p, n) of  (1 - e^{-ηh}) / (1 - e^{-η}),    h = [m + D_ap - D_an]₊
//
// D is a distance of unit vectors, squared in the paper (there h ≤ 5); p ∈ P(a), n ∈ N(a). ∂l/∂h = η e^{-ηh} / (1 -
// e^{-η}): the more a triplet is violated, the less it weighs. As η → 0, the loss becomes the hinge. R is the mean
// over all triplets, including those with h = 0; avg_nonzero and sum are as for the triplet loss. Without a triplet
// the loss is 0.
// Settings: η > 0, margin m ∈ [0, 4], distance D (l2sq), reduction R.
//
// Let c = m + D_ap, with the positives sorted by distance: those with c > D_an are last. As 1 - e^{-ηh} = -(X + Q·Y)
// for X = e^{-ηc} - 1, Q = e^{-ηc}, Y = e^{ηD_an} - 1, tails of X and Q give the sum over the positives. At the
// smallest η this loses at most four digits.
// Time O(r log |P|) and one exp per column for each anchor, after the products O(n·r·d). Memory O(n·r).
// Source: Al-Obaidi et al., "Robust metric learning based on the rescaled hinge loss", IJMLC 2020, as used in BSPML
// (002), there with η ∈ {0.5, 1, 2, 3, 4}; METHODS 4.4. Difference from Al-Obaidi et al.: a deep loss on all triplets
// of the batch, not a Mahalanobis metric fitted by half-quadratic steps (002-11).
type rdml struct {
	distance    distance
	eta, margin float64
	reduce      reduction

	delta []float64
	rise  []float64 // 1 + Y
	mates positives
	x, q  []float64 // tails of X and Q
	steps []float64
}

var rdmlEntry = Entry{
	Name:     "rdml",
	Title:    "RDML, rescaled hinge",
	Paper:    "Al-Obaidi et al. 2020; BSPML (002)",
	Equation: "a baseline of 002, which prints no equation",
	Formula:  "R_{(a,p,n)} (1 - e^{-ηh}) / (1 - e^{-η}),  h = [m + D_ap - D_an]₊",
	Against:  Both,
	Settings: []Setting{
		{Name: "eta", Symbol: "η", Default: 1.0, Min: 1e-4, Max: 100,
			Doc: "the larger, the faster a violated triplet loses weight; near 0 the loss is the hinge"},
		{Name: "margin", Symbol: "m", Default: 1.0, Min: 0, Max: 4, Doc: "how much farther a negative must be"},
		{Name: "distance", Symbol: "D", Default: "l2sq", Choices: distances, Doc: distancesDoc},
		overTerms("triplets"),
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &rdml{distance: asDistance(v.Word("distance")), eta: v.Number("eta"), margin: v.Number("margin"),
			reduce: asReduction(v.Word("reduction"))}
		return &similarity{chain{fn: fn, exact: true}}, nil
	},
}

func (l *rdml) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta = growSlice(l.delta, r)
	clear(dS)
	var t tally
	for i := range p.rows {
		l.distance.fillDistances(l.delta, nil, S[i*r:(i+1)*r])
		t.d, t.touched = rowOfBlock(dS, i, r), false
		l.addAnchor(&t, i, p)
		if t.touched {
			l.distance.chainDistance(t.d, l.delta)
		}
	}
	return t.sum, t.tallyDivisor(l.reduce, p)
}

// computeTails computes the tails of X and Q, and clears the steps of the slopes.
func (l *rdml) computeTails(reach []float64) {
	n := len(reach)
	l.x, l.q, l.steps = growSlice(l.x, n+1), growSlice(l.q, n+1), growSlice(l.steps, n+1)
	clear(l.steps)
	l.x[n], l.q[n] = 0, 0
	for k := n - 1; k >= 0; k-- {
		l.x[k] = l.x[k+1] + math.Expm1(-l.eta*reach[k])
		l.q[k] = l.q[k+1] + math.Exp(-l.eta*reach[k])
	}
}

func (l *rdml) addAnchor(t *tally, i int, p *pairs) {
	n := l.mates.rankPositives(l.delta, i, p, selection{take: takeAll}, l.margin)
	if n == 0 {
		return
	}
	reach, rise := l.mates.reach, growSlice(l.rise, len(l.delta))
	l.rise = rise
	l.computeTails(reach)
	features.ExpSlice(rise, l.delta, l.eta, 0)
	scale := -1 / math.Expm1(-l.eta) // 1 / (1 - e^{-η})
	y, farthest, before := p.rows[i], reach[n-1], t.active
	for j, c := range p.cols {
		if c == y {
			continue
		}
		t.count += n
		an := l.delta[j]
		if an >= farthest {
			continue
		}
		from := upTo(reach, an)
		t.active += n - from
		t.sum -= scale * (l.x[from] + l.q[from]*(rise[j]-1))
		if t.d != nil {
			t.d[j] -= scale * l.eta * l.q[from] * rise[j]
			l.steps[from] += scale * l.eta * rise[j]
		}
	}
	t.touched = t.d != nil && t.active > before
	if t.touched {
		var sum float64
		for k, j := range l.mates.order {
			sum += l.steps[k]
			t.d[j] += sum * math.Exp(-l.eta*reach[k])
		}
	}
}
