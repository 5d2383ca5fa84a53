package losses

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// margin pulls positives nearer than β - α and pushes negatives farther than β + α.
//
//	l⁺ = [d_ap - β + α]₊   l⁻ = [β - d_an + α]₊
//	L  = Σ_{(a,p,n)} (l⁺ + l⁻ + ν β) / Σ_{(a,p,n)} (1[l⁺ > 0] + 1[l⁻ > 0])
//
// d = ‖z_i - z_j‖, p ∈ P(a), n ∈ N(a). β is one number, fixed or learnt, or one learnt number per class of the anchor,
// β_{y_a}. ν applies to a learnt β only and pulls β down; for a single β its term is ν β, undivided. The selected
// triplets are
//
//	all                every p with every n
//	distance_weighted  |P(a)| per anchor: an n drawn by [distanceWeighted], a p drawn uniformly
//
// Settings: α ≥ 0, β ∈ [0, 4] (the initial value of a learnt β), ν ≥ 0. The loss is 0 without a triplet that has a
// term above 0. An anchor without positives or without negatives is in no triplet. The derivative of d at 0 is 0.
// Against a bank p and n are its members. Time O(n·r·d), memory O(n·r): all needs no list of triplets, because l⁺ and
// l⁻ are each a function of one pair and occur |N(a)| and |P(a)| times in the sum. distance_weighted takes 3.4 times
// as long as its products (n = 256, d = 512): a logarithm and an exponential for every eligible negative, and a search
// for every draw, see [distanceWeighted].
// Differences from the paper: β is never per image, and the divisor is that of pytorch-metric-learning; the paper sums.
// Source: Wu et al., "Sampling matters in deep embedding learning", ICCV 2017, section 4; BSPML (002) compares with
// this loss at α = 0.2, β = 1.2; METHODS 4.2. For its pair form, Eq. 2 of 000, see [marginalEntry].
type margin struct {
	alpha, nu float64
	perClass  bool
	beta      []float64 // a single number, or one per class
	pull      []float64 // ∂sum/∂β over the blocks since loadOwn
	count     float64   // number of terms in the same blocks
	sampler   *distanceWeighted

	delta, slope []float64
	positives    []int32
}

var marginEntry = Entry{
	Name:     "margin",
	Title:    "Margin loss",
	Paper:    "Wu et al. 2017; Le & Odobez (000); BSPML (002)",
	Equation: "section 4 of Wu et al.; pair form Eq. 2 of 000",
	Formula:  "Σ_{(a,p,n)} ([d_ap - β + α]₊ + [β - d_an + α]₊) / #terms above 0",
	Against:  Both,
	Params:   true,
	Draws:    true,
	Settings: []Setting{
		{Name: "margin", Symbol: "α", Default: 0.2, Min: 0, Max: 2,
			Doc: "distance that positives must keep below the threshold and negatives above it"},
		{Name: "beta", Symbol: "β", Default: 1.2, Min: 0, Max: 4,
			Doc: "threshold of the distance; if learnt, its initial value"},
		{Name: "learn", Default: "fixed", Choices: []string{"fixed", "one", "class"},
			Doc: "β is fixed, learnt, or learnt for every class"},
		{Name: "nu", Symbol: "ν", Default: 0.0, Min: 0, Max: 1e3,
			Doc: "for learn one or class: weight of a term ν β, which lowers β"},
		{Name: "select", Default: "all", Choices: []string{"all", "distance_weighted"},
			Doc: "which triplets of an anchor: all, or for every positive a negative, drawn so that all " +
				"distances are equally likely"},
		{Name: "near", Default: 0.5, Min: 0, Max: 2, Doc: "distance_weighted: nearer negatives count as this far"},
		{Name: "far", Default: 1.4, Min: 0, Max: 3,
			Doc: "distance_weighted: negatives from this distance on are not drawn; above 2 (the authors): no limit"},
		{Name: "otherwise", Default: "skip", Choices: []string{"skip", "uniform"},
			Doc: "distance_weighted: an anchor without a negative nearer than far is skipped, or (as the authors do) " +
				"draws uniformly from all negatives"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &margin{alpha: v.Number("margin")}
		loss := &parametric{similarity: similarity{chain{fn: fn, exact: true}}, own: fn}
		n := 1
		if learn := v.Word("learn"); learn != "fixed" {
			fn.nu = v.Number("nu")
			if fn.perClass = learn == "class"; fn.perClass {
				n = env.Classes
			}
			loss.p = features.NewParam("beta", n, 1)
			loss.p.NoDecay = true
		}
		fn.beta, fn.pull = make([]float64, n), make([]float64, n)
		for c := range fn.beta {
			fn.beta[c] = v.Number("beta")
			if loss.p != nil {
				loss.p.Data[c] = float32(fn.beta[c])
			}
		}
		if v.Word("select") == "distance_weighted" {
			fn.sampler = &distanceWeighted{
				dim: float64(env.Dim), near: v.Number("near"), far: v.Number("far"),
				uniform: v.Word("otherwise") == "uniform",
			}
			loss.draw = env.Step
		}
		return loss, nil
	},
}

// loadOwn implements ownSim.
func (l *margin) loadOwn(p *features.Param, labels []int) {
	clear(l.pull)
	l.count = 0
	if p == nil {
		return
	}
	for c, b := range p.Data {
		l.beta[c] = float64(b)
	}
	for i, y := range labels {
		if l.perClass && y >= len(l.beta) {
			panic(fmt.Sprintf("losses: margin: row %d has label %d, expected less than %d classes", i, y, len(l.beta)))
		}
	}
}

// storeOwn implements ownSim.
func (l *margin) storeOwn(p *features.Param, loss float64) {
	clear(p.Grad)
	for c, v := range l.pull {
		switch {
		case math.IsNaN(loss):
			p.Grad[c] = float32(loss)
		case l.count > 0:
			p.Grad[c] = float32(v / l.count)
		}
	}
}

func (l *margin) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.delta, l.slope = growSlice(l.delta, r), growSlice(l.slope, r)
	var t marginTally
	for i, y := range p.rows {
		s := S[i*r : (i+1)*r]
		t.d = rowOfBlock(dS, i, r)
		clear(t.d)
		c := 0
		if l.perClass {
			c = y
		}
		t.beta, t.alpha, t.pull = l.beta[c], l.alpha, 0
		triplets := 0.0
		if l.sampler != nil {
			triplets = l.addDrawnTriplets(&t, s, i, p)
		} else {
			triplets = l.addAllTriplets(&t, s, i, p)
		}
		if l.perClass {
			t.sum += l.nu * t.beta * triplets
			t.pull += l.nu * triplets
		}
		l.pull[c] += t.pull
	}
	if !l.perClass {
		t.sum += l.nu * l.beta[0] * t.terms
		l.pull[0] += l.nu * t.terms
	}
	l.count += t.terms
	return t.sum, t.terms
}

// marginTally adds up the pairs of an anchor: d is ∂sum/∂s, pull is ∂sum/∂β.
type marginTally struct {
	sum, terms  float64
	beta, alpha float64
	pull        float64
	d           []float64
}

// addAtDistance adds pair j at distance δ with multiplicity times. sign is +1 for a positive and -1 for a negative.
func (t *marginTally) addAtDistance(j int, delta, sign, times float64) {
	v := sign*(delta-t.beta) + t.alpha
	if v <= 0 {
		return
	}
	t.sum += times * v
	t.terms += times
	t.pull -= sign * times
	if t.d != nil && delta > 0 {
		t.d[j] -= sign * times / delta
	}
}

// addAllTriplets adds every triplet of anchor i, and returns their number.
func (l *margin) addAllTriplets(t *marginTally, s []float64, i int, p *pairs) float64 {
	cols, y := p.cols[:len(s)], p.rows[i]
	l.positives = l.positives[:0]
	negatives := len(cols)
	for j, c := range cols {
		if c == y {
			negatives--
			if p.areApart(i, j) {
				l.positives = append(l.positives, int32(j))
			}
		}
	}
	if negatives == 0 || len(l.positives) == 0 {
		return 0
	}
	for _, j := range l.positives {
		t.addAtDistance(int(j), math.Sqrt(max(0, 2-2*s[j])), 1, float64(negatives))
	}
	reach, times := t.beta+t.alpha, float64(len(l.positives))
	from := 1 - reach*reach/2 - 1e-12 // negatives less similar than this have no loss: skip the square root
	if reach < 0 {
		return times * float64(negatives)
	}
	for j, v := range s {
		if v > from && cols[j] != y {
			t.addAtDistance(j, math.Sqrt(max(0, 2-2*v)), -1, times)
		}
	}
	return times * float64(negatives)
}

// addDrawnTriplets adds as many drawn triplets of anchor i as it has positives, and returns their number.
func (l *margin) addDrawnTriplets(t *marginTally, s []float64, i int, p *pairs) float64 {
	l2.fillDistances(l.delta, nil, s)
	l.positives = l.positives[:0]
	for j := range s {
		if p.isPositive(i, j) {
			l.positives = append(l.positives, int32(j))
		}
	}
	if len(l.positives) == 0 || !l.sampler.prepareAnchor(l.delta, p.cols, p.rows[i]) {
		return 0
	}
	slices.SortFunc(l.positives, func(j, k int32) int { return cmp.Compare(l.delta[j], l.delta[k]) })
	for range l.positives {
		n := l.sampler.drawNegative(p.draw)
		j := int(l.positives[p.draw.IntN(len(l.positives))])
		t.addAtDistance(j, l.delta[j], 1, 1)
		t.addAtDistance(n, l.delta[n], -1, 1)
	}
	return float64(len(l.positives))
}
