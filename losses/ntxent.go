package losses

import (
	"math"

	"winnow/features"
)

// ntxent is InfoNCE: it contrasts each positive pair separately with all negatives of the anchor.
//
//	L = mean over i, p ∈ P(i) of -log e^{s_ip/t} / (e^{s_ip/t} + Σ_{n∈N(i)} e^{s_in/t})
//
// The other positives of i are not in the denominator (in supcon they are). Against a bank, P(i) and N(i) are its
// members. Settings: temperature t > 0. Without positives or without negatives the loss is 0. The printed equation
// draws one positive per anchor and takes the expectation; ntxent takes the mean over all positives. ∂/∂s_ip =
// -(1-q_ip)/t, where q_ip is the quotient above; the opposite gradient is spread over N(i) by its softmax.
// Time O(n·r·d), one exponential per pair; memory O(n·r).
// Source: van den Oord et al., "Representation learning with contrastive predictive coding", 2018; Chen et al.,
// "A simple framework for contrastive learning" (SimCLR), ICML 2020; Eq. 1 of Long et al., "Understanding and
// mitigating human-labelling errors in supervised contrastive learning", 2024 (004). METHODS 3.8.
type ntxent struct {
	temperature float64

	e         []float64 // e^{(s-top)/t} of one anchor's negatives, 0 elsewhere
	positives []int32   // P(i) of the anchor
}

var ntxentEntry = Entry{
	Name:     "ntxent",
	Title:    "NT-Xent loss (InfoNCE)",
	Paper:    "van den Oord et al. 2018; Chen et al. 2020 (SimCLR); SCL-RHE (004)",
	Equation: "Eq. 1 of 004",
	Formula:  "mean_{i,p} -log e^{s_ip/t} / (e^{s_ip/t} + Σ_N e^{s_in/t})",
	Against:  Both,
	Settings: []Setting{
		{Name: "temperature", Symbol: "t", Default: 0.07, Min: 1e-3, Max: 100,
			Doc: "divides the similarities: the smaller, the more the nearest vectors dominate (SimCLR: 0.5)"},
	},
	New: func(v Values, env Env) (Loss, error) {
		return &similarity{chain{fn: &ntxent{temperature: v.Number("temperature")}}}, nil
	},
}

func (l *ntxent) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r, inverse := len(p.cols), 1/l.temperature
	l.e = growSlice(l.e, r)
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		clear(d)
		var top float64
		l.positives, top = p.prepareRivals(l.e, l.positives[:0], s, i)
		terms += float64(len(l.positives))
		if len(l.positives) == 0 || math.IsInf(top, -1) {
			continue // without negatives every quotient is 1
		}
		total := features.ExpSlice(l.e, l.e, inverse, -top*inverse)
		whole := top*inverse + math.Log(total)
		var push float64
		for _, j := range l.positives {
			value, slope := softplusSlope(whole - s[j]*inverse)
			sum += value
			push += slope
			if d != nil {
				d[j] = -slope * inverse
			}
		}
		if push *= inverse / total; d != nil {
			for j, e := range l.e {
				d[j] += push * e
			}
		}
	}
	return sum, terms
}
