package losses

import (
	"math"

	"winnow/features"
)

// softTriple is a cross entropy over classes, with several learnable centres per class.
//
//	S_ic = Σ_k q_ick s_ick,  q_ic· = softmax_k(γ s_ick),  s_ick = z_i·p̂_ck
//	L    = 1/n Σ_i -log softmax_c(λ (S_ic - δ·1[c = y_i]))[y_i]
//	     + τ/(C·K·(K-1)) Σ_c Σ_{j<k} √(2 + 10⁻⁵ - 2 p̂_cj·p̂_ck)
//
// There are C classes, K centres per class, n rows. ∂S/∂s_k = q_k (1 + γ (s_k - S)). The loss is defined for any
// batch; absent classes are still pushed away. With K = 1 there is no second term. Settings: centers K ≥ 1, la λ > 0,
// γ in (0, 300], so that e^{γ(s-1)} is above 0 for any s, margin δ ∈ [0, 2], τ ≥ 0. Differences from the paper: Eq.
// 18-19 of 001 lack the sum over the other classes, the batch mean and the unit lengths. These are as in Qian et al.,
// where γ is a multiplier.
// Time O(n·C·K·d), memory O(n·C·K).
// Source: Qian et al., "SoftTriple loss", ICCV 2019; as a baseline in PRISM (001), Eq. 18-19, with τ = 0.
type softTriple struct {
	perClass             int
	lambda, gamma, delta float64
	s                    []float64 // S of one row, then the derivatives
	e                    []float64 // scratch for one row, used when no derivative is wanted
}

var softTripleEntry = Entry{
	Name:     "soft_triple",
	Title:    "SoftTriple loss",
	Paper:    "Qian et al. 2019; PRISM (001)",
	Equation: "Eq. 18-19 of 001",
	Formula:  "-1/n Σ_i log softmax_c(λ (S_ic - δ·1[c = y_i]))[y_i], S_ic = Σ_k softmax_k(γ s_ick) s_ick",
	Against:  Proxies,
	Params:   true,
	Proxied:  true,
	Settings: []Setting{
		{Name: "centers", Symbol: "K", Default: 0, Min: 0, Max: 1000,
			Doc: "centres per class; 0: 10 below 500 classes, else 2"},
		{Name: "la", Symbol: "λ", Default: 20.0, Min: 1e-3, Max: 1e4, Doc: "scale of the class logits"},
		{Name: "gamma", Symbol: "γ", Default: 10.0, Min: 1e-3, Max: 300,
			Doc: "scale within a class: the larger, the more the nearest centre dominates"},
		{Name: "margin", Symbol: "δ", Default: 0.01, Min: 0, Max: 2, Doc: "how much nearer the own class must be"},
		{Name: "tau", Symbol: "τ", Default: 0.0, Min: 0, Max: 1e3,
			Doc: "weight of a term that pulls the centres of a class together (the original: 0.2)"},
		{Name: "init", Default: "normal", Choices: proxyDraws, Doc: proxyDrawsDoc},
	},
	New: func(v Values, env Env) (Loss, error) {
		k := v.Count("centers")
		if k == 0 {
			k = 10
			if env.Classes >= 500 {
				k = 2
			}
		}
		fn := &softTriple{perClass: k, lambda: v.Number("la"), gamma: v.Number("gamma"), delta: v.Number("margin")}
		loss := newProxied("soft_triple", fn, env, k)
		if tau := v.Number("tau"); tau > 0 && k > 1 {
			loss.within, loss.weight = centrePair, tau/float64(env.Classes*k*(k-1))
		}
		drawProxies(loss.p, v.Word("init"), env.Init)
		return loss, nil
	},
}

func (l *softTriple) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r, k := len(p.cols), l.perClass
	l.s, l.e = growSlice(l.s, r/k), growSlice(l.e, r)
	for i, y := range p.rows {
		d, row := l.e, S[i*r:(i+1)*r]
		if dS != nil {
			d = dS[i*r : (i+1)*r]
		}
		l.classSums(d, row)
		l.s[y] -= l.delta
		sum += softmaxLoss(l.s, l.s, l.lambda, y)
		if dS == nil {
			continue
		}
		for c, slope := range l.s {
			of := d[c*k : (c+1)*k]
			for j := range of {
				of[j] *= slope
			}
		}
	}
	return sum, float64(len(p.rows))
}

// classSums stores S_c for one row of similarities in l.s, and sets d to ∂S_c/∂s.
func (l *softTriple) classSums(d, s []float64) {
	k := l.perClass
	features.ExpSlice(d, s, l.gamma, -l.gamma)
	for c := range l.s {
		e, s := d[c*k:(c+1)*k], s[c*k:(c+1)*k]
		var weight, mean float64
		for j, v := range s {
			weight += e[j]
			mean += e[j] * v
		}
		weight = 1 / weight
		mean *= weight
		l.s[c] = mean
		for j, v := range s {
			e[j] *= (1 + l.gamma*(v-mean)) * weight
		}
	}
}

// centrePair returns the second term for two centres of a class with cosine s, and its derivative.
func centrePair(s float64) (value, slope float64) {
	value = math.Sqrt(max(0, 2-2*s) + 1e-5)
	return value, -1 / value
}
