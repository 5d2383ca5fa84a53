package losses

import (
	"math"

	"winnow/features"
)

// supcon is the supervised contrastive loss, with the mean over the positives outside or inside the logarithm.
//
//	out  l_i = LSE_{A(i)}(s/t) - 1/|P(i)| Σ_{p∈P(i)} s_ip/t                (Eq. 3)
//	in   l_i = LSE_{A(i)}(s/t) - LSE_{P(i)}(s/t) + log|P(i)|                (Eq. 2)
//
// A(i) = P(i) ∪ N(i), and LSE is the logarithm of the sum of exponentials. Against a bank P(i) and N(i) are its
// members. The reduction over the n anchors is
//
//	mean_valid   the mean of l_i over anchors with a positive
//	mean_all     t/t₀ · the mean over all n anchors, with 0 for anchors without a positive (the official code)
//	avg_nonzero  the mean over l_i > 0 (pytorch-metric-learning)
//
// Settings: temperature t > 0, base_temperature t₀ > 0 (for mean_all only). An anchor without positives
// contributes 0. An anchor without negatives only equalises its positives (out) or is constant (in).
// ∂l_i/∂s = (softmax_A - 1_P/|P|)/t for out, (softmax_A - softmax_P)/t for in.
// Time O(n·r·d), one exponential per pair (in: one more per positive); memory O(n·r).
// Source: Khosla et al., "Supervised contrastive learning", NeurIPS 2020; Eq. 2-3 of Long et al., "Understanding and
// mitigating human-labelling errors in supervised contrastive learning", 2024 (004). Long et al. do not state the
// temperature: 0.1 is that of the public code's runs. METHODS 3.9.
type supcon struct {
	inside      bool
	everyone    bool // L is a mean over all anchors, not only over those with a positive
	active      bool // L is a mean over anchors with l_i ≠ 0
	temperature float64
	scale       float64 // factor of every l_i

	e         []float64 // e^{(s-top)/t} of A(i) for one anchor, 0 elsewhere
	own       []float64 // the same for P(i) with its own maximum (in)
	positives []int32   // P(i) of the anchor
}

var supconEntry = Entry{
	Name:     "supcon",
	Title:    "Supervised contrastive loss",
	Paper:    "Khosla et al. 2020; SCL-RHE (004)",
	Equation: "Eq. 3 (out) and 2 (in) of 004",
	Formula:  "R_i { LSE_A(s/t) - mean_P s/t } (out), R_i { LSE_A(s/t) - LSE_P(s/t) + log|P| } (in), A = P and N",
	Against:  Both,
	Settings: []Setting{
		{Name: "kind", Default: "out", Choices: []string{"out", "in"},
			Doc: "mean over the positives outside or inside the logarithm"},
		{Name: "temperature", Symbol: "t", Default: 0.1, Min: 1e-3, Max: 100,
			Doc: "divides the similarities: the smaller, the more the nearest vectors dominate"},
		{Name: "reduction", Symbol: "R", Default: "mean_valid", Choices: []string{"mean_valid", "mean_all",
			"avg_nonzero"}, Doc: "mean over the anchors with a positive; over all anchors, times t/t₀; over " +
			"the anchors with a loss above 0"},
		{Name: "base_temperature", Symbol: "t₀", Default: 0.07, Min: 1e-3, Max: 100,
			Doc: "for mean_all: temperature t₀ at which the factor t/t₀ is 1"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &supcon{inside: v.Word("kind") == "in", temperature: v.Number("temperature"), scale: 1}
		switch v.Word("reduction") {
		case "mean_all":
			fn.everyone, fn.scale = true, fn.temperature/v.Number("base_temperature")
		case "avg_nonzero":
			fn.active = true
		}
		return &similarity{chain{fn: fn}}, nil
	},
}

func (l *supcon) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.e = growSlice(l.e, r)
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		clear(d)
		var top float64
		l.positives, top = p.prepareRivals(l.e, l.positives[:0], s, i)
		if len(l.positives) == 0 {
			continue
		}
		value := l.anchorTerm(d, s, top)
		sum += value
		if !l.active || value != 0 {
			terms++
		}
	}
	if l.everyone {
		terms = float64(len(p.rows))
	}
	return sum, terms
}

// anchorTerm returns the term of the anchor with similarities s, whose negatives are in l.e with maximum top. d,
// unless nil, is set to its derivative.
func (l *supcon) anchorTerm(d, s []float64, top float64) float64 {
	inverse, count := 1/l.temperature, float64(len(l.positives))
	highest, mean := math.Inf(-1), 0.0
	for _, j := range l.positives {
		l.e[j] = s[j]
		highest = max(highest, s[j])
		mean += s[j] / count
	}
	top = max(top, highest)
	total := features.ExpSlice(l.e, l.e, inverse, -top*inverse)
	value := math.Log(total) + (top-mean)*inverse
	if l.inside {
		value = math.Log(total/l.softmaxAmong(s, highest)*count) + (top-highest)*inverse
	}
	// it is negative only by rounding, for example with a single pair
	if value = l.scale * max(value, 0); d == nil || value == 0 {
		return value
	}
	slope := l.scale * inverse
	for j, e := range l.e {
		d[j] = slope / total * e
	}
	for k, j := range l.positives {
		if l.inside {
			d[j] -= slope * l.own[k]
		} else {
			d[j] -= slope / count
		}
	}
	return value
}

// softmaxAmong stores the softmax over P(i) in l.own and returns the sum of its exponentials.
func (l *supcon) softmaxAmong(s []float64, highest float64) float64 {
	l.own = l.own[:0]
	for _, j := range l.positives {
		l.own = append(l.own, s[j])
	}
	total := features.ExpSlice(l.own, l.own, 1/l.temperature, -highest*(1/l.temperature))
	for k := range l.own {
		l.own[k] /= total
	}
	return total
}
