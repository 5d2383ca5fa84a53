package losses

// contrastive pulls positives together and pushes apart negatives more similar than λ.
//
//	spec    L = 1/n Σ_i { Σ_{j∈P(i)} (1 - s_ij) + Σ_{j∈N(i)} [s_ij - λ]₊ }
//	eq_sum  L = Σ_i { -Σ_{j∈P(i)} s_ij + Σ_{j∈N(i)} [s_ij - λ]₊ }                     (Eq. 16 as printed, j ≠ i)
//	code    L = 1/n Σ_i { Σ_{j∈P(i), s_ij < 1-ε} (1 - s_ij) + Σ_{j∈N(i), s_ij > λ} s_ij }   (the official code)
//
// Against the batch this is Eq. 16; against a bank, with all members of the label in P(i), it is the memory
// contrastive loss of Eq. 17. n is the number of anchors. Settings: λ ∈ [-1, 1], ε ≥ 0. An anchor without
// pairs contributes 0. The three differ in value; spec and eq_sum have the same gradient up to 1/n, and
// code too but for positives closer than ε. Time O(n·r·d), memory O(n·r).
// Source: Liu et al., "Noise-resistant deep metric learning with probabilistic instance filtering" (PRISM,
// 001), Eq. 16-17; the memory is that of Wang et al., "Cross-batch memory", CVPR 2020.
type contrastive struct {
	form        string
	lambda, eps float64
}

var contrastiveEntry = Entry{
	Name:     "contrastive",
	Title:    "Contrastive and memory contrastive loss",
	Paper:    "PRISM (001)",
	Equation: "Eq. 16; against a bank Eq. 17",
	Formula:  "1/n Σ_i { Σ_P (1 - s) + Σ_N [s - λ]₊ }",
	Against:  Both,
	Settings: []Setting{
		{Name: "form", Default: "spec", Choices: []string{"spec", "eq_sum", "code"}, Doc: "mean over anchors; the printed sums; the official code, whose value keeps λ"},
		{Name: "margin", Symbol: "λ", Default: 0.5, Min: -1, Max: 1, Doc: "similarity below which a negative is left alone"},
		{Name: "eps", Symbol: "ε", Default: 1e-5, Min: 0, Max: 1, Doc: "form code: positives closer than this are duplicates"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &contrastive{form: v.Word("form"), lambda: v.Number("margin"), eps: v.Number("eps")}
		return &similarity{chain{fn: fn}}, nil
	},
}

func (l *contrastive) eval(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	one, off, below := 1.0, l.lambda, 2.0 // value of a positive one - s if s < below, of a negative s - off
	switch l.form {
	case "eq_sum":
		one = 0
	case "code":
		off, below = 0, 1-l.eps
	}
	for i, y := range p.rows {
		s, d := row(S, i, r), row(dS, i, r)
		clear(d)
		cols := p.cols[:len(s)]
		for j, v := range s {
			if cols[j] == y {
				if !(v >= below) && p.apart(i, j) { // so that NaN comes through
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
	if l.form == "eq_sum" {
		return sum, p.plain()
	}
	return sum, float64(len(p.rows))
}
