package losses

// contrastiveMargin pulls together positives beyond the margin m⁺ and pushes apart negatives within the margin m⁻.
//
//	cosine    L = R_{i,p} [m⁺ - s_ip]₊ + R_{i,n} [s_in - m⁻]₊
//	l2, l2sq  L = R_{i,p} [δ_ip - m⁺]₊ + R_{i,n} [m⁻ - δ_in]₊,   δ = √(2 - 2s), δ = 2 - 2s
//
// The sums are over the ordered pairs p ∈ P(i) and n ∈ N(i). R reduces each of the two groups separately: the sum, the
// mean, or avg_nonzero, the mean of the terms above 0. A group without pairs (for avg_nonzero: without active pairs)
// contributes 0. Equal vectors are not an active positive pair at m⁺ = 1 (cosine) or 0 (l2). The derivative of l2 at
// distance 0 is 0. For cosine, ∂L/∂s of an active pair is ∓1 over the group's count, which is a constant.
//
// Settings: distance, m⁺, m⁻, R. The defaults are those of 002 for the cosine (1, 0); for l2, 0 and 1 are usual. Time
// O(n·r·d) and two passes over S, because the gradient needs the counts; memory O(n·r).
// Source: Hadsell et al., "Dimensionality reduction by learning an invariant mapping", CVPR 2006, eq. 4, without its
// squares, as in pytorch-metric-learning. The settings are those that BSPML (002) states for this loss. METHODS 3.1,
// 002-8.
type contrastiveMargin struct {
	distance distance // cosine: the compared value is the similarity itself
	pos, neg float64
	reduce   reduction

	delta     []float64 // distances of one anchor
	near, far float64   // divisors of the two groups
}

var contrastiveMarginEntry = Entry{
	Name:     "contrastive_margin",
	Aliases:  []string{"contrastiveloss"},
	Title:    "Contrastive loss with two margins",
	Paper:    "Hadsell et al. 2006; BSPML (002)",
	Equation: "Eq. 4 of Hadsell et al., the hinges not squared",
	Formula:  "R_P [m⁺ - s]₊ + R_N [s - m⁻]₊",
	Against:  Both,
	Settings: []Setting{
		{Name: "distance", Symbol: "δ", Default: "cosine", Choices: distances,
			Doc: "cosine: margins are similarities; l2, l2sq: distances"},
		{Name: "pos_margin", Symbol: "m⁺", Default: 1.0, Min: -1, Max: 4,
			Doc: "bound beyond which a positive adds loss (usual with l2: 0)"},
		{Name: "neg_margin", Symbol: "m⁻", Default: 0.0, Min: -1, Max: 4,
			Doc: "bound within which a negative adds loss (usual with l2: 1)"},
		{Name: "reduction", Symbol: "R", Default: "avg_nonzero", Choices: []string{"avg_nonzero", "mean", "sum"},
			Doc: "mean over the pairs with loss above 0, mean over all, or sum; separately for positives and " +
				"negatives"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &contrastiveMargin{
			distance: asDistance(v.Word("distance")), pos: v.Number("pos_margin"), neg: v.Number("neg_margin"),
			reduce: asReduction(v.Word("reduction")),
		}
		return &similarity{chain{fn: fn, exact: true}}, nil
	},
}

// comparedValues returns the values compared with the margins, and the sign that makes them grow with similarity.
func (l *contrastiveMargin) comparedValues(s []float64) (x []float64, sign float64) {
	if l.distance == cosine {
		return s, 1
	}
	l.distance.fillDistances(l.delta, nil, s)
	return l.delta[:len(s)], -1
}

// surveyPairs counts the terms by which the sums of the two groups are divided.
func (l *contrastiveMargin) surveyPairs(S []float64, p *pairs) {
	if p.first == 0 {
		l.near, l.far = 0, 0
	}
	if l.reduce == plainSum {
		l.near, l.far = 1, 1
		return
	}
	r := len(p.cols)
	l.delta = growSlice(l.delta, r)
	all := l.reduce == meanOfAll
	near, far := 0, 0
	for i, y := range p.rows {
		x, sign := l.comparedValues(rowOfBlock(S, i, r))
		cols := p.cols[:len(x)]
		for j, v := range x {
			if cols[j] != y {
				far += oneIf(all || sign*(v-l.neg) > 0)
			} else if p.areApart(i, j) {
				near += oneIf(all || sign*(l.pos-v) > 0)
			}
		}
	}
	l.near += float64(near)
	l.far += float64(far)
}

// oneIf returns 1 for true and 0 for false without a branch: whether a negative is active is often unpredictable.
func oneIf(is bool) int {
	n := 0
	if is {
		n = 1
	}
	return n
}

func (l *contrastiveMargin) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta = growSlice(l.delta, r)
	var near, far float64
	for i := range p.rows {
		d := rowOfBlock(dS, i, r)
		x, sign := l.comparedValues(rowOfBlock(S, i, r))
		pull, push := l.sumAnchor(d, x, sign, i, p)
		near += pull
		far += push
		if d != nil && l.distance != cosine {
			l.distance.chainDistance(d, x)
		}
	}
	// If a count is 0, the sum is 0 as well.
	return near/max(l.near, 1) + far/max(l.far, 1), p.plainTerms()
}

// sumAnchor adds up the terms of anchor i in the two groups and, unless d is nil, sets d to the derivatives by x.
func (l *contrastiveMargin) sumAnchor(d, x []float64, sign float64, i int, p *pairs) (near, far float64) {
	y, cols := p.rows[i], p.cols[:len(x)]
	pull, push := [2]float64{0, -sign / max(l.near, 1)}, [2]float64{0, sign / max(l.far, 1)}
	for j, v := range x {
		slope := 0.0
		if cols[j] != y {
			v = sign * (v - l.neg)
			far += max(v, 0)
			slope = push[oneIf(v > 0)]
		} else if p.areApart(i, j) {
			v = sign * (l.pos - v)
			near += max(v, 0)
			slope = pull[oneIf(v > 0)]
		}
		if d != nil {
			d[j] = slope
		}
	}
	return near, far
}
