package losses

import (
	"fmt"
	"math"
)

// sclRHE is the supervised contrastive loss corrected for human labelling errors: harder positives and negatives weigh
// more, and the expected share of false pairs is subtracted from both sides.
//
//	iw(v, b) = Σ_j e^{(1+b)v_j} / Σ_j e^{b·v_j}                    the mean of e^v under weights tilted by e^{b·v}
//	A   = Q/(1-τ_p) · [iw(P, -β) - τ_p iw(N, -β)],   A ← max(A, Q e^{-1/t}),   Q = |P(i)|
//	B   = W/(1-τ_n) · [iw(N, β') - τ_n iw(P, β')],   B ← max(B, W e^{-1/t}),   W = |N(i)|
//	l_i = -log A/(A + B),      L = mean of l_i over anchors with a positive and a negative
//
// iw is over v = s_ij/t of P(i) or N(i). The gradient includes the weights; a clamped side has no gradient. Against a
// bank P(i) and N(i) are its members. Settings: temperature t ≥ 0.01; beta β and beta_neg β' from 0 to 5; τ_p = P(an
// assigned positive is false) and τ_n = P(an assigned negative is false). By default these follow from the rate τ of
// wrong labels and the number C of classes of the run,
//
//	τ_p = 2τ - τ² - τ²/(C-1),   τ_n = 2τ(1-τ)/(C-1) + τ²(C-2)/(C-1)²,   both 0 where C = 1;
//
// If clamp is false, A and B have no lower bound, and anchors with A ≤ 0 or A + B ≤ 0, whose term is undefined, are
// skipped. Without any anchor the loss is 0. β = β' = τ = 0 gives the form in of supcon minus log|P|.
//
// Differences from the paper (METHODS 2): the sign of the tilt (004-3), which the paper copies from a loss of
// negatives; two rates instead of one pair (004-4); the logarithm of a negative number (004-1), the interchanged sides
// (004-5), P_FP and P_FN as enumeration gives them (004-6), the clamps of HCL (004-7). Env.Printed uses +β, so that
// easier positives weigh more, and l_i/Q (Eq. 5); in the paper, moreover, tau_p = τ⁻ and tau_n = τ⁺.
// Time O(n·r·d). A pair costs one exponential and a root if β = β' = 1/2, otherwise two or three exponentials. Sums
// need no shift: with unit rows exponents stay within ±(1+5)/0.01 = ±600, and float64 can represent e^{±700}.
// Source: Long et al., "Understanding and mitigating human-labelling errors in supervised contrastive learning", 2024
// (004), Eq. 14 with 6-13; the estimate iw is that of Robinson et al., "Contrastive learning with hard negative
// samples" (HCL), ICLR 2021. METHODS 10.
type sclRHE struct {
	inverse          float64 // 1/t
	tilt, tiltNeg    float64 // ±β, β'
	falsePos, falseN float64 // τ_p, τ_n
	floor            float64 // e^{-1/t}; 0: no clamp
	share            bool    // whether l_i is divided by Q

	e, h, f []float64 // powers of one anchor: e^v, e^{±βv}, e^{β'v}
}

var sclRHEEntry = Entry{
	Name:     "scl_rhe",
	Title:    "SCL-RHE, robust to human labelling errors",
	Paper:    "SCL-RHE (004)",
	Equation: "Eq. 14, corrected",
	Formula: "mean_i -log A/(A + B), A = Q/(1-τ_p)·[iw(P, -β) - τ_p iw(N, -β)], B = W/(1-τ_n)·[iw(N, β') " +
		"- τ_n iw(P, β')]",
	Against: Both,
	Settings: []Setting{
		{Name: "temperature", Symbol: "t", Default: 0.1, Min: 0.01, Max: 100,
			Doc: "divides the similarities: the smaller, the more the nearest vectors dominate"},
		{Name: "beta", Symbol: "β", Default: 0.5, Min: 0, Max: 5,
			Doc: "additional weight of hard positives; 0: all are equal"},
		{Name: "beta_neg", Symbol: "β'", Default: 0.5, Min: 0, Max: 5,
			Doc: "additional weight of hard negatives; 0: all are equal"},
		{Name: "tau", Symbol: "τ", Default: 0.033, Min: 0, Max: 1,
			Doc: "rate of wrong labels (CIFAR-100: 0.0585, ImageNet: 0.0583), from which tau_p and tau_n follow"},
		{Name: "tau_p", Symbol: "τ_p", Default: -1.0, Min: -1, Max: 0.999,
			Doc: "share of false pairs among positives; -1: computed from tau and the number of classes"},
		{Name: "tau_n", Symbol: "τ_n", Default: -1.0, Min: -1, Max: 0.999,
			Doc: "share of false pairs among negatives; -1: computed from tau and the number of classes"},
		{Name: "clamp", Default: true, Doc: "keep the estimates A and B above a minimum"},
	},
	Printed: "positives are tilted by +β (Eq. 11-13), and the term is divided by their number (Eq. 5)",
	New: func(v Values, env Env) (Loss, error) {
		fn := &sclRHE{inverse: 1 / v.Number("temperature"), tilt: -v.Number("beta"), tiltNeg: v.Number("beta_neg")}
		var err error
		pos, neg := falseRates(v.Number("tau"), env.Classes)
		if fn.falsePos, err = rateSetting(v, "tau_p", pos); err != nil {
			return nil, err
		}
		if fn.falseN, err = rateSetting(v, "tau_n", neg); err != nil {
			return nil, err
		}
		if env.Printed {
			fn.tilt, fn.share = -fn.tilt, true
		}
		if v.Flag("clamp") {
			fn.floor = math.Exp(-fn.inverse)
		}
		return &similarity{chain{fn: fn}}, nil
	},
}

// falseRates returns the probabilities that a pair with equal labels, and a pair with different labels, is false, if a
// share tau of the labels is wrong and all other classes are equally likely.
func falseRates(tau float64, classes int) (positive, negative float64) {
	if classes < 2 {
		return 0, 0
	}
	others := float64(classes - 1)
	return 2*tau - tau*tau - tau*tau/others, 2*tau*(1-tau)/others + tau*tau*(others-1)/(others*others)
}

// rateSetting returns a setting that is a rate, or otherwise if the setting is -1.
func rateSetting(v Values, name string, otherwise float64) (float64, error) {
	given := v.Number(name)
	if given == -1 {
		return otherwise, nil
	}
	if given < 0 {
		return 0, fmt.Errorf("losses: scl_rhe: %s: found %v, expected a number from 0 to 0.999, or -1", name, given)
	}
	return given, nil
}

func (l *sclRHE) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.e, l.h, l.f = growSlice(l.e, r), growSlice(l.h, r), growSlice(l.f, r)
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		clear(d)
		l.raisePowers(s)
		pos, neg := l.collectTilts(i, p)
		if pos.count == 0 || neg.count == 0 {
			continue
		}
		value, a, b, ok := l.anchorLoss(&pos, &neg)
		if !ok {
			continue
		}
		sum += value
		terms++
		if d != nil {
			l.spreadTilts(d, i, p, l.pullCoefficients(&pos, a.pos, b.pos), l.pullCoefficients(&neg, a.neg, b.neg))
		}
	}
	return sum, terms
}

// side holds the derivatives of l_i with respect to the two estimates iw in A, or to those in B.
type side struct{ pos, neg float64 }

// anchorLoss returns l_i and its derivatives with respect to iw(P, ±β) and iw(N, ±β) in A, and to iw(P, β') and iw(N,
// β') in B. ok is false if l_i is undefined.
func (l *sclRHE) anchorLoss(pos, neg *tilted) (value float64, da, db side, ok bool) {
	ka, kb := pos.count/(1-l.falsePos), neg.count/(1-l.falseN)
	a := ka * (pos.eh/pos.h - l.falsePos*neg.eh/neg.h)
	b := kb * (neg.ef/neg.f - l.falseN*pos.ef/pos.f)
	freeA, freeB := true, true
	if l.floor > 0 {
		leastA, leastB := pos.count*l.floor, neg.count*l.floor
		freeA, freeB = !(a < leastA), !(b < leastB)
		a, b = max(a, leastA), max(b, leastB)
	}
	if a <= 0 || a+b <= 0 {
		return 0, da, db, false
	}
	c := 1.0
	if l.share {
		c = 1 / pos.count
	}
	if freeA {
		k := c * (1/(a+b) - 1/a) * ka
		da = side{pos: k, neg: -k * l.falsePos}
	}
	if freeB {
		k := c / (a + b) * kb
		db = side{pos: -k * l.falseN, neg: k}
	}
	return c * math.Log1p(b/a), da, db, true
}
