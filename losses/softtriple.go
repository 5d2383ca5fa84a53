package losses

import "math"

// softTriple is a cross entropy over classes of several learnable centres each.
//
//	S_ic = Σ_k q_ick s_ick,  q_ic· = softmax_k(γ s_ick),  s_ick = z_i·p̂_ck
//	L    = 1/n Σ_i -log softmax_c(λ (S_ic - δ·1[c = y_i]))[y_i]
//	     + τ/(C·K·(K-1)) Σ_c Σ_{j<k} √(2 + 10⁻⁵ - 2 p̂_cj·p̂_ck)
//
// C classes, K centres a class, n rows. ∂S/∂s_k = q_k (1 + γ (s_k - S)). Defined for any batch; a class that
// is absent is still pushed away. K = 1 has no second term. The printed equations lack the sum over the
// other classes, the batch mean and the unit lengths: as in the SoftTriple paper here, with γ a multiplier.
// Time O(n·C·K·d), memory O(n·C·K).
// Source: Qian et al., "SoftTriple loss", ICCV 2019; as a baseline in PRISM (001), Eq. 18-19, where τ = 0.
type softTriple struct {
	perClass             int
	lambda, gamma, delta float64
	s                    []float64 // S of one row, then λ·softmax
}

var softTripleEntry = Entry{
	Name:     "soft_triple",
	Title:    "SoftTriple loss",
	Paper:    "SoftTriple; PRISM (001)",
	Equation: "001: 18-19",
	Formula:  "-1/n Σ_i log softmax_c(λ (S_ic - δ·1[c = y_i]))[y_i], S_ic = Σ_k softmax_k(γ s_ick) s_ick",
	Against:  Proxies,
	Params:   true,
	Settings: []Setting{
		{Name: "centers", Symbol: "K", Default: 0, Min: 0, Max: 1000, Doc: "centres a class; 0: 10 below 500 classes, else 2"},
		{Name: "la", Symbol: "λ", Default: 20.0, Min: 1e-3, Max: 1e4, Doc: "scale of the class logits"},
		{Name: "gamma", Symbol: "γ", Default: 10.0, Min: 1e-3, Max: 1e4, Doc: "how sharply the nearest centre of a class is taken (a multiplier)"},
		{Name: "margin", Symbol: "δ", Default: 0.01, Min: 0, Max: 2, Doc: "taken off the own class"},
		{Name: "tau", Symbol: "τ", Default: 0.0, Min: 0, Max: 1e3, Doc: "draws the centres of a class together (the original: 0.2)"},
		{Name: "init", Default: "normal", Choices: []string{"normal", "uniform"}, Doc: "N(0, 1) or uniform in ±1/√d, every coordinate"},
	},
	New: func(v Values, env Env) (Loss, error) {
		k := v.count("centers")
		if k == 0 {
			k = 10
			if env.Classes >= 500 {
				k = 2
			}
		}
		fn := &softTriple{perClass: k, lambda: v.number("la"), gamma: v.number("gamma"), delta: v.number("margin")}
		loss := newProxied("soft_triple", fn, env, k)
		if tau := v.number("tau"); tau > 0 && k > 1 {
			loss.within, loss.weight = together, tau/float64(env.Classes*k*(k-1))
		}
		drawProxies(loss.p, v.word("init"), env.Init)
		return loss, nil
	},
}

func (l *softTriple) eval(dS, S []float64, p *pairs) (sum, terms float64) {
	r, k := len(p.cols), l.perClass
	l.s = grow(l.s, r/k)
	for i, y := range p.rows {
		row := S[i*r : (i+1)*r]
		var d []float64
		if dS != nil {
			d = dS[i*r : (i+1)*r]
		}
		for c := range l.s {
			part := row[c*k : (c+1)*k]
			if d == nil {
				l.s[c] = l.class(nil, part)
			} else {
				l.s[c] = l.class(d[c*k:(c+1)*k], part)
			}
		}
		sum += l.entropy(y)
		for j := range d {
			d[j] *= l.s[j/k]
		}
	}
	return sum, float64(len(p.rows))
}

// class is S_c of the similarities of one class; d, unless nil, becomes ∂S_c/∂s.
func (l *softTriple) class(d, s []float64) float64 {
	top := s[0]
	for _, v := range s[1:] {
		top = max(top, v)
	}
	var weight, mean float64
	for j, v := range s {
		e := math.Exp(l.gamma * (v - top))
		weight += e
		mean += e * v
		if d != nil {
			d[j] = e
		}
	}
	mean /= weight
	for j := range d {
		d[j] *= (1 + l.gamma*(s[j]-mean)) / weight
	}
	return mean
}

// entropy is the loss of a row with class similarities l.s, which it replaces by the derivatives.
func (l *softTriple) entropy(y int) float64 {
	l.s[y] -= l.delta
	own, top := l.s[y], l.s[0]
	for _, v := range l.s[1:] {
		top = max(top, v)
	}
	var weight float64
	for c, v := range l.s {
		e := math.Exp(l.lambda * (v - top))
		l.s[c] = e
		weight += e
	}
	for c := range l.s {
		l.s[c] *= l.lambda / weight
	}
	l.s[y] -= l.lambda
	return math.Log(weight) + l.lambda*(top-own)
}

// together is the second term for one pair of centres of a class with cosine s, and its derivative.
func together(s float64) (value, slope float64) {
	value = math.Sqrt(max(0, 2-2*s) + 1e-5)
	return value, -1 / value
}
