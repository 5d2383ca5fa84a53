package losses

import "math"

// multiSimilarity pulls positives and pushes negatives. The weight of a pair depends on the anchor's other pairs of
// the same kind.
//
//	L = 1/n Σ_i { 1/α log[1 + Σ_{p∈P'(i)} e^{-α(s_ip-λ)}] + 1/β log[1 + Σ_{q∈N'(i)} e^{β(s_iq-λ)}] }
//
// P', N' are the pairs that the [msMiner] selects, or all pairs. A row without selected positives contributes only its
// second term; a row without selected pairs contributes 0, but is included in n.
//
//	∂L/∂s_ip = -1/n e^{-α(s_ip-λ)} / (1 + Σ_{P'}),   ∂L/∂s_iq = 1/n e^{β(s_iq-λ)} / (1 + Σ_{N'})
//
// Settings: α, β > 0, λ ∈ [-1, 1] (0.5 in the authors' code, 1 in 002), miner, ε. With the miner it is the loss of
// Wang et al. (their code drops rows that lack positives or negatives among the mined pairs). 002 takes means by
// class: with equally many rows per class, that is this loss times the number of classes.
// Time O(n·r·d) and one exponential per selected pair; memory O(n·r).
// Source: Wang et al., "Multi-similarity loss with general pair weighting for deep metric learning", CVPR 2019; BSPML
// (002), eq. 3. METHODS 3.3, 002-13.
type multiSimilarity struct {
	alpha, beta, base float64
	miner             msMiner
}

var multiSimilarityEntry = Entry{
	Name:     "multi_similarity",
	Aliases:  []string{"ms", "multisimilarityloss"},
	Title:    "Multi-similarity loss",
	Paper:    "Wang et al. 2019; BSPML (002)",
	Equation: "Eq. 3 of 002, miner Eq. 4-5",
	Formula:  "1/n Σ_i { 1/α log[1 + Σ_P' e^{-α(s-λ)}] + 1/β log[1 + Σ_N' e^{β(s-λ)}] }",
	Against:  Both,
	Settings: append(msSettings(0.5),
		Setting{Name: "miner", Default: true, Doc: "only pairs that the hardest of the other kind makes informative"}),
	New: func(v Values, env Env) (Loss, error) {
		fn := newMultiSimilarity(v)
		fn.miner.off = !v.Flag("miner")
		return &similarity{chain{fn: fn}}, nil
	},
}

// msSettings returns the settings shared by the plain and the weighted form.
func msSettings(base float64) []Setting {
	return []Setting{
		{Name: "alpha", Symbol: "α", Default: 2.0, Min: 1e-3, Max: 1e4,
			Doc: "the larger, the more the least similar positive dominates"},
		{Name: "beta", Symbol: "β", Default: 50.0, Min: 1e-3, Max: 1e4,
			Doc: "the larger, the more the most similar negative dominates"},
		{Name: "base", Symbol: "λ", Default: base, Min: -1, Max: 1,
			Doc: "similarity subtracted before scaling (the authors' code: 0.5, 002: 1)"},
		{Name: "epsilon", Symbol: "ε", Default: 0.1, Min: 0, Max: 4,
			Doc: "tolerance of the miner: how far a pair may be beyond the bound"},
	}
}

func newMultiSimilarity(v Values) *multiSimilarity {
	return &multiSimilarity{
		alpha: v.Number("alpha"), beta: v.Number("beta"), base: v.Number("base"),
		miner: msMiner{epsilon: v.Number("epsilon")},
	}
}

func (l *multiSimilarity) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		pull, push := l.anchorTerms(d, s, i, p, l.miner.limitWindow(s, i, p, nil), nil)
		sum += pull.value + push.value
		weighExponentials(d, pull.slope, push.slope)
	}
	return sum, float64(len(p.rows))
}

// logTerm is one of an anchor's two terms, with the factor that turns its exponentials into derivatives.
type logTerm struct{ value, slope float64 }

// anchorTerms returns the two terms of anchor i. d, unless nil, is set to the exponentials of the selected pairs, each
// shifted by the largest exponent of its kind; those of positives are negated.
func (l *multiSimilarity) anchorTerms(d, s []float64, i int, p *pairs, w window, absent []bool) (pull, push logTerm) {
	var near, far float64
	y, cols := p.rows[i], p.cols[:len(s)]
	for j, v := range s {
		e := 0.0
		switch {
		case absent != nil && absent[j]:
		case cols[j] != y:
			if v > w.above {
				e = math.Exp(l.beta * (v - w.high))
				far += e
			}
		case v < w.below && p.areApart(i, j):
			e = -math.Exp(l.alpha * (w.low - v))
			near -= e
		}
		if d != nil {
			d[j] = e
		}
	}
	pull.value, pull.slope = logOnePlus(l.alpha*(l.base-w.low), near)
	push.value, push.slope = logOnePlus(l.beta*(w.high-l.base), far)
	pull.value /= l.alpha
	push.value /= l.beta
	return pull, push
}

// logOnePlus returns log(1 + eᵘ·sum) and eᵘ / (1 + eᵘ·sum) without overflow; both are 0 if sum is 0.
func logOnePlus(u, sum float64) (value, slope float64) {
	switch {
	case sum == 0:
		return 0, 0
	case u > 0:
		e := math.Exp(-u)
		return u + math.Log(e+sum), 1 / (e + sum)
	}
	e := math.Exp(u)
	return math.Log1p(e * sum), e / (1 + e*sum)
}

// weighExponentials turns the exponentials that anchorTerms stored in d into derivatives.
func weighExponentials(d []float64, pull, push float64) {
	for j, e := range d {
		if e > 0 {
			d[j] = e * push
		} else {
			d[j] = e * pull
		}
	}
}
