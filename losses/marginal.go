package losses

// distancePairs is a loss of single pairs: a linear function of their distance, or the hinge of one.
//
//	L = R over ordered pairs (i, j) of l(d_ij),  l(d) = a⁺ + b⁺ d for j ∈ P(i), a⁻ + b⁻ d for j ∈ N(i),
//	or [l(d)]₊ if hinge
//
// d = ‖z_i - z_j‖. R is the mean, the sum, or avg_nonzero, the mean of the terms above 0. The selected pairs are
//
//	all              every pair
//	random_semihard  every positive pair (i, p), and for each one negative of i, drawn uniformly from
//	                 d_in < d_ip + reach; without such a negative, only the positive pair
//
// Without pairs the loss is 0. Against a bank, j is a member of the bank. The derivative of d at 0 is 0.
// Time O(n·r·d), memory O(n·r).
type distancePairs struct {
	pos, neg line
	hinge    bool
	reduce   reduction
	mined    bool
	reach    float64

	delta     []float64
	positives []int32
	near      band
}

// line is the function at + slope·d.
type line struct{ at, slope float64 }

// marginal pulls positives nearer than β - α and pushes negatives farther than β + α.
//
//	l = [(d_ij - β) t_ij + α]₊,  t_ij = +1 for j ∈ P(i), -1 for j ∈ N(i)
//
// This is the pair form of [margin], as used in 000: a mean over pairs, with β = 1.4 and α = 0.2 both fixed. Settings:
// margin α ≥ 0, β ∈ [0, 4], select, reduction R. For selection, cost and degenerate cases see [distancePairs]. 000
// does not state which negatives random semi-hard mining selects for a marginal loss. winnow selects one negative of
// the anchor for every positive pair, under the condition of Eq. 28 that the triplet has a loss above 0: d_ap - d_an +
// α > 0.
// Source: Le & Odobez, "Theoretical guarantees of deep embedding losses under label noise" (000), Eq. 2, sampling
// sections 5.2 and 6.1; METHODS 4.2, 000-12.
var marginalEntry = Entry{
	Name:     "marginal",
	Title:    "Marginal loss",
	Paper:    "Le & Odobez (000)",
	Equation: "Eq. 2, mining Eq. 28",
	Formula:  "R_{(i,j)} [(d_ij - β) t_ij + α]₊",
	Against:  Both,
	Draws:    true,
	Settings: []Setting{
		{Name: "margin", Symbol: "α", Default: 0.2, Min: 0, Max: 2,
			Doc: "distance that positives must keep below the threshold and negatives above it"},
		{Name: "beta", Symbol: "β", Default: 1.4, Min: 0, Max: 4, Doc: "threshold of the distance"},
		{Name: "select", Default: "all", Choices: []string{"all", "random_semihard"},
			Doc: "every pair; or every positive pair and one negative of its anchor, drawn from " +
				"d_in < d_ip + α"},
		overTerms("pairs"),
	},
	New: func(v Values, env Env) (Loss, error) {
		alpha, beta := v.Number("margin"), v.Number("beta")
		fn := &distancePairs{
			pos: line{alpha - beta, 1}, neg: line{alpha + beta, -1}, hinge: true,
			reduce: asReduction(v.Word("reduction")), mined: v.Word("select") == "random_semihard", reach: alpha,
		}
		loss := &similarity{chain{fn: fn, exact: true}}
		if fn.mined {
			loss.draw = env.Step
		}
		return loss, nil
	},
}

func (l *distancePairs) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta = growSlice(l.delta, r)
	var t tally
	for i := range p.rows {
		t.d = rowOfBlock(dS, i, r)
		clear(t.d)
		l2.fillDistances(l.delta, nil, S[i*r:(i+1)*r])
		if l.mined {
			l.addMinedPairs(&t, i, p)
		} else {
			l.addAllPairs(&t, i, p)
		}
	}
	return t.sum, t.tallyDivisor(l.reduce, p)
}

// addAllPairs adds all pairs of anchor i.
func (l *distancePairs) addAllPairs(t *tally, i int, p *pairs) {
	y := p.rows[i]
	for j, c := range p.cols {
		if c != y {
			l.addPairLine(t, j, l.neg)
		} else if p.areApart(i, j) {
			l.addPairLine(t, j, l.pos)
		}
	}
}

// addMinedPairs adds the positive pairs of anchor i, each with one drawn negative.
func (l *distancePairs) addMinedPairs(t *tally, i int, p *pairs) {
	l.positives = l.positives[:0]
	farthest := -1.0
	for j := range p.cols {
		if p.isPositive(i, j) {
			l.positives = append(l.positives, int32(j))
			farthest = max(farthest, l.delta[j])
		}
	}
	if len(l.positives) == 0 {
		return
	}
	l.near.loadBand(l.delta, p.cols, p.rows[i], 0, farthest+l.reach)
	for _, j := range l.positives {
		l.addPairLine(t, int(j), l.pos)
		if n := l.near.countBelow(l.delta[j] + l.reach); n > 0 {
			l.addPairLine(t, int(l.near.order[p.draw.IntN(n)]), l.neg)
		}
	}
}

// addPairLine adds pair j of the current anchor.
func (l *distancePairs) addPairLine(t *tally, j int, of line) {
	d := l.delta[j]
	v := of.at + of.slope*d
	t.count++
	if l.hinge && v <= 0 {
		return
	}
	t.sum += v
	t.active++
	if t.d != nil && d > 0 {
		t.d[j] -= of.slope / d
	}
}
