package losses

import "math"

// circle weights every pair by its distance from the pair's optimum, so that the decision boundary is a circle.
//
//	per_anchor  L = R_i softplus( LSE_{n∈N(i)} γ a_n (s_n - m) + LSE_{p∈P(i)} -γ a_p (s_p - (1 - m)) )
//	global      L =     softplus( the same sums over all pairs of the batch, each pair once )
//
//	a_p = [1 + m - s_p]₊, a_n = [s_n + m]₊: constants in the gradient
//	∂l/∂s_p = -γ a_p softmax_p σ(u),   ∂l/∂s_n = γ a_n softmax_n σ(u),   u the argument of softplus
//
// LSE is the logarithm of the sum of exponentials. R is the mean over the anchors that have both a positive and a
// negative and whose term is above 0. Without positives or without negatives the loss is 0. The gradient treats a_p
// and a_n as constants, as the authors' code does, so it is not the exact gradient of the value.
//
// Settings: margin m (0.4 in 001; 0.25 for faces), γ (80; 256 for faces), form. Time O(n·r·d) and one exponential per
// pair (two for global against a bank, which needs two passes over S); memory O(n·r).
// Source: Sun et al., "Circle loss: a unified perspective of pair similarity optimization", CVPR 2020, eq. 4-6
// with O_p = 1 + m, O_n = -m, Δ_p = 1 - m, Δ_n = m; a baseline in PRISM (001). METHODS 3.5.
type circle struct {
	m, gamma float64
	v        []float64 // exponents of one anchor, -Inf for columns that are not pairs
}

var circleEntry = Entry{
	Name:     "circle",
	Aliases:  []string{"circleloss"},
	Title:    "Circle loss",
	Paper:    "Sun et al. 2020; PRISM (001)",
	Equation: "Eq. 4-6 of Sun et al.",
	Formula:  "mean₊_i softplus( LSE_N γ [s + m]₊ (s - m) + LSE_P -γ [1 + m - s]₊ (s - 1 + m) )",
	Against:  Both,
	Settings: []Setting{
		{Name: "form", Default: "per_anchor", Choices: []string{"per_anchor", "global"},
			Doc: "one term per anchor, or one term for all pairs of the batch"},
		{Name: "margin", Symbol: "m", Default: 0.4, Min: 0, Max: 1,
			Doc: "radius: the targets are similarities above 1 - m for positives and below m for negatives"},
		{Name: "gamma", Symbol: "γ", Default: 80.0, Min: 1e-3, Max: 1e4,
			Doc: "scale of the similarities: the larger, the more the hardest pairs dominate"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := circle{m: v.Number("margin"), gamma: v.Number("gamma")}
		if v.Word("form") == "global" {
			return &similarity{chain{fn: &circleGlobal{circle: fn}}}, nil
		}
		return &similarity{chain{fn: &fn}}, nil
	},
}

func (l *circle) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.v = growSlice(l.v, r)
	for i := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		nearTop, farTop := l.fillExponents(s, i, p, 0)
		if math.IsInf(nearTop, -1) || math.IsInf(farTop, -1) {
			clear(d)
			continue
		}
		near, far := l.sumExponentials(d, s, i, p, nearTop, farTop)
		value, slope := softplusSlope(nearTop + math.Log(near) + farTop + math.Log(far))
		if value > 0 {
			terms++
		}
		sum += value
		weighExponentials(d, l.gamma*slope/near, l.gamma*slope/far)
	}
	return sum, terms
}

// fillExponents fills l.v for anchor i and returns the largest exponent of each kind, positives and negatives. Columns
// before start are not pairs.
func (l *circle) fillExponents(s []float64, i int, p *pairs, start int) (nearTop, farTop float64) {
	nearTop, farTop = math.Inf(-1), math.Inf(-1)
	v, cols := l.v[:len(s)], p.cols[:len(s)]
	for j := range min(start, len(v)) {
		v[j] = math.Inf(-1)
	}
	for j := start; j < len(s); j++ {
		x := s[j]
		switch {
		case cols[j] != p.rows[i]:
			e := l.gamma * max(0, x+l.m) * (x - l.m)
			v[j], farTop = e, max(farTop, e)
		case p.areApart(i, j):
			e := l.gamma * max(0, 1+l.m-x) * (1 - l.m - x)
			v[j], nearTop = e, max(nearTop, e)
		default:
			v[j] = math.Inf(-1)
		}
	}
	return nearTop, farTop
}

// sumExponentials adds up e^{v - top} for each kind. d, unless nil, is set to ±a·e^{v - top}, negative for positives.
func (l *circle) sumExponentials(d, s []float64, i int, p *pairs, nearTop, farTop float64) (near, far float64) {
	v, cols := l.v[:len(s)], p.cols[:len(s)]
	for j, x := range s {
		e, a := 0.0, 0.0
		switch {
		case math.IsInf(v[j], -1):
		case cols[j] != p.rows[i]:
			e = math.Exp(v[j] - farTop)
			far += e
			a = max(0, x+l.m)
		default:
			e = math.Exp(v[j] - nearTop)
			near += e
			a = -max(0, 1+l.m-x)
		}
		if d != nil {
			d[j] = a * e
		}
	}
	return near, far
}
