package losses

// contrastive pulls positives together and pushes negatives apart if their similarity exceeds λ.
//
//	spec     L = 1/n Σ_i { Σ_{j∈P(i)} (1 - s_ij) + Σ_{j∈N(i)} [s_ij - λ]₊ }
//	code     L = 1/n Σ_i { Σ_{j∈P(i), s_ij < 1-ε} (1 - s_ij) + Σ_{j∈N(i), s_ij > λ} s_ij }  (official code)
//	printed  L = Σ_i { -Σ_{j∈P(i)} s_ij + Σ_{j∈N(i)} [s_ij - λ]₊ }                     (Eq. 16, j ≠ i; for spec)
//
// Against the batch this is Eq. 16. Against a bank, with all members of the label in P(i), it is the memory
// contrastive loss of Eq. 17. n is the number of anchors. Settings: λ ∈ [-1, 1], ε ≥ 0. An anchor without pairs
// contributes 0. The three forms have different values. spec and printed have the same gradient up to the factor 1/n;
// the gradient of code is that of spec except for positives closer than ε. Time O(n·r·d), memory O(n·r).
// Source: Liu et al., "Noise-resistant deep metric learning with probabilistic instance filtering" (PRISM, 001), Eq.
// 16-17; the memory is that of Wang et al., "Cross-batch memory", CVPR 2020.
type contrastive struct {
	one, below  float64 // a positive adds one - s if s < below
	lambda, off float64 // a negative adds s - off if s > λ
	summed      bool    // not divided by n
}

var contrastiveEntry = Entry{
	Name:     "contrastive",
	Title:    "Contrastive and memory contrastive loss",
	Paper:    "PRISM (001)",
	Equation: "Eq. 16; against a bank Eq. 17",
	Formula:  "1/n Σ_i { Σ_P (1 - s) + Σ_N [s - λ]₊ }",
	Against:  Both,
	Settings: []Setting{
		{Name: "form", Default: "spec", Choices: []string{"spec", "code"},
			Doc: "mean over anchors with [s - λ]₊; or the official code, which adds s instead"},
		{Name: "margin", Symbol: "λ", Default: 0.5, Min: -1, Max: 1,
			Doc: "similarity below which a negative adds no loss"},
		{Name: "eps", Symbol: "ε", Default: 1e-5, Min: 0, Max: 1,
			Doc: "form code: positives closer than this are duplicates"},
	},
	Printed: "form spec: the sum of -s and [s - λ]₊, not divided by n (Eq. 16)",
	New: func(v Values, env Env) (Loss, error) {
		fn := &contrastive{one: 1, below: 2, lambda: v.Number("margin"), off: v.Number("margin")}
		switch {
		case v.Word("form") == "code":
			fn.off, fn.below = 0, 1-v.Number("eps")
		case env.Printed:
			fn.one, fn.summed = 0, true
		}
		return &similarity{chain{fn: fn}}, nil
	},
}

func (l *contrastive) separate() {}

func (l *contrastive) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	one, off, below := l.one, l.off, l.below
	for i, y := range p.rows {
		s, d := rowOfBlock(S, i, r), rowOfBlock(dS, i, r)
		clear(d)
		cols := p.cols[:len(s)]
		for j, v := range s {
			if cols[j] == y {
				if !(v >= below) && p.areApart(i, j) { // also true for NaN, so that it propagates
					sum += one - v
					if d != nil {
						d[j] = -1
					}
				}
			} else if !(v <= l.lambda) {
				sum += v - off
				if d != nil {
					d[j] = 1
				}
			}
		}
	}
	if l.summed {
		return sum, p.plainTerms()
	}
	return sum, float64(len(p.rows))
}
