package losses

import "math"

// triplet wants the negative n of an anchor a farther than its positive p, by a margin.
//
//	L = R over chosen (a, p, n) of l(δ_ap - δ_an + m),   l(v) = [v]₊, or softplus log(1 + eᵛ) if smooth
//
// δ is a distance of unit vectors (l2, l2sq, cosine); p ∈ P(a), n ∈ N(a). Chosen are, for every anchor,
//
//	semihard    with every p one n, uniform among δ_ap ≤ δ_an < δ_ap + m; none: that pair is left out
//	batch_hard  the farthest p with the nearest n (ties: the first); anchors that have both
//	all         every p with every n
//
// R is the mean, the sum, or avg_nonzero, the mean of the terms above 0. No triplet: 0. Against a bank,
// p and n are its members. The derivative of l2 at distance 0 is 0.
// Time O(n·r·d) for the products; per anchor O(r) semihard and batch_hard, O(|P|·|N|) all. Memory O(n·r).
// Source: METHODS 4.1, 6.2, 6.3. semihard: Schroff et al., "FaceNet", CVPR 2015, as in Eq. 5 and 7 of Yu et
// al., "Correcting the triplet selection bias for triplet loss", ECCV 2018 (003), whose settings are the
// defaults (l2sq, m = 0.2); batch_hard: Hermans et al., "In defense of the triplet loss", 2017.
type triplet struct {
	distance distance
	margin   float64
	smooth   bool
	reduce   string
	choose   string

	delta, slope []float64 // of one anchor
	positives    []int32   // its P(a) (semihard)
	near         band      // its negatives in rising distance (semihard)
}

var tripletEntry = Entry{
	Name:     "triplet",
	Title:    "Triplet loss",
	Paper:    "FaceNet; 000, 002, 003",
	Equation: "003: 5, selection 7",
	Formula:  "R_{(a,p,n)} l(δ_ap - δ_an + m)",
	Against:  Both,
	Draws:    true,
	Settings: []Setting{
		{Name: "distance", Symbol: "δ", Default: string(l2sq), Choices: distances, Doc: "of unit vectors"},
		{Name: "margin", Symbol: "m", Default: 0.2, Min: 0, Max: 4, Doc: "by how much the negative must be farther"},
		{Name: "smooth", Default: false, Doc: "softplus instead of the hinge"},
		{Name: "select", Default: "semihard", Choices: []string{"semihard", "batch_hard", "all"}, Doc: "which triplets of an anchor"},
		{Name: "reduction", Symbol: "R", Default: "mean", Choices: []string{"mean", "avg_nonzero", "sum"}, Doc: "over the triplets"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &triplet{
			distance: distance(v.word("distance")), margin: v.number("margin"), smooth: v.flag("smooth"),
			reduce: v.word("reduction"), choose: v.word("select"),
		}
		loss := &similarity{chain{fn: fn, exact: true}}
		if fn.choose == "semihard" {
			loss.draw = env.Step
		}
		return loss, nil
	},
}

func (l *triplet) eval(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta, l.slope = grow(l.delta, r), grow(l.slope, r)
	var t tally
	for i := range p.rows {
		l.distance.of(l.delta, nil, S[i*r:(i+1)*r])
		t.d = nil
		if dS != nil {
			t.d = dS[i*r : (i+1)*r]
			clear(t.d)
		}
		l.anchor(&t, i, p)
		if dS != nil && t.touched {
			l.distance.slope(l.slope, l.delta)
			for j, k := range l.slope[:r] {
				t.d[j] *= k
			}
		}
		t.touched = false
	}
	return t.sum, t.divisor(l.reduce, p)
}

// anchor adds the triplets of anchor i to the tally; distances are in l.delta.
func (l *triplet) anchor(t *tally, i int, p *pairs) {
	switch l.choose {
	case "semihard":
		l.semihard(t, i, p)
	case "batch_hard":
		if far, near := l.hardest(i, p); far >= 0 && near >= 0 {
			l.add(t, far, near)
		}
	default:
		for j := range p.cols {
			if !p.positive(i, j) {
				continue
			}
			for k, y := range p.cols {
				if y != p.rows[i] {
					l.add(t, j, k)
				}
			}
		}
	}
}

// semihard draws one negative for every positive.
func (l *triplet) semihard(t *tally, i int, p *pairs) {
	l.positives = l.positives[:0]
	nearest, farthest := math.Inf(1), math.Inf(-1)
	for j := range p.cols {
		if p.positive(i, j) {
			l.positives = append(l.positives, int32(j))
			nearest, farthest = min(nearest, l.delta[j]), max(farthest, l.delta[j])
		}
	}
	if len(l.positives) == 0 {
		return
	}
	l.near.sort(l.delta, p.cols, p.rows[i], nearest, farthest+l.margin)
	for _, j := range l.positives {
		from, to := l.near.between(l.delta[j], l.delta[j]+l.margin)
		if to > from {
			l.add(t, int(j), int(l.near.order[from+p.draw.IntN(to-from)]))
		}
	}
}

// hardest is the farthest positive and the nearest negative of anchor i, -1 where it has none.
func (l *triplet) hardest(i int, p *pairs) (far, near int) {
	far, near = -1, -1
	for j, y := range p.cols {
		if y != p.rows[i] {
			if near < 0 || l.delta[j] < l.delta[near] {
				near = j
			}
		} else if p.apart(i, j) && (far < 0 || l.delta[j] > l.delta[far]) {
			far = j
		}
	}
	return far, near
}

// add counts the triplet of the current anchor with positive j and negative k.
func (l *triplet) add(t *tally, j, k int) {
	v := l.delta[j] - l.delta[k] + l.margin
	slope := 1.0
	if l.smooth {
		v, slope = softplus(v)
	} else if v <= 0 {
		v, slope = 0, 0
	}
	t.count++
	if v == 0 {
		return
	}
	t.sum += v
	t.active++
	if t.d != nil {
		t.d[j] += slope
		t.d[k] -= slope
		t.touched = true
	}
}

// tally adds up triplets: d is ∂sum/∂δ for the current anchor.
type tally struct {
	sum           float64
	count, active int // all terms, and those above 0
	d             []float64
	touched       bool
}

func (t *tally) divisor(reduce string, p *pairs) float64 {
	switch reduce {
	case "avg_nonzero":
		return float64(t.active)
	case "sum":
		return p.plain()
	}
	return float64(t.count)
}

// softplus is log(1 + eᵛ) and its derivative, without overflow.
func softplus(v float64) (value, slope float64) {
	e := math.Exp(-math.Abs(v))
	value = max(v, 0) + math.Log1p(e)
	if v >= 0 {
		return value, 1 / (1 + e)
	}
	return value, e / (1 + e)
}
