package losses

import (
	"fmt"
	"math"
	"slices"
)

// triplet pushes the negative n of an anchor a farther away than its positive p, by a margin.
//
//	L = R over selected (a, p, n) of l(δ_ap - δ_an + m),   l(v) = [v]₊, or softplus log(1 + eᵛ) if smooth
//
// δ is a distance of unit vectors (l2, l2sq, cosine); p ∈ P(a), n ∈ N(a). [selection] describes which triplets are
// selected; its g is the setting gap, or m if gap is below 0. With swap, the value uses min(δ_an, δ_pn) (ties: δ_an)
// instead of δ_an, but the selection still uses δ_an; swap is for the batch only. Against a bank, p and n are its
// members.
//
// Settings: distance δ, margin m ∈ [0, 4], smooth, swap, select, gap g, reduction R. R is the mean, the sum, or
// avg_nonzero, the mean of the terms above 0. Without a triplet the loss is 0. The derivative of l2 at distance 0 is
// 0. With the selection easy and a gap of at least the margin, the hinge is always 0: New returns an error.
//
// Time O(n·r·d) for the products; then, for each anchor:
//
//	semihard, random_semihard          O(r) for evenly spread distances, O(r log r) at worst; |P| random numbers
//	fixed_semihard                     O(r log |P|)
//	batch_hard                         O(r)
//	all and the other sets, hinge      O(r log |P|), see [triplet.addHinges]
//	all and the other sets, smooth     O(|P|·r) at about 2 ns: every negative has its own range of positives
//	all sets with swap                 O(|P|·r) at 3 to 6 ns: min(δ_an, δ_pn) depends on the whole triplet
//
// With 4 images per class the loss takes 1 to 2.9 times as long as its products (ONNX Runtime's, d = 512) at B = 64
// and 256. smooth swap takes longer: it needs a logarithm for each of three triplets per pair. swap needs all of δ at
// once. Memory O(n·r). Source: METHODS 4.1. The defaults (l2sq, m = 0.2, semihard) are Eq. 5 and 7 of Yu et al.,
// "Correcting the triplet selection bias for triplet loss", ECCV 2018 (003). 000 uses l2, m = 0.2, random_semihard or
// fixed_semihard; triplet_smooth of 002 uses l2, m = 0.05, smooth, all (002-9); Hermans et al. use l2, m = 0, smooth,
// batch_hard. swap: Balntas et al., "Learning local feature descriptors with triplets", BMVC 2016.
type triplet struct {
	distance distance
	margin   float64
	smooth   bool
	swap     bool
	reduce   reduction
	choose   selection

	matrix []float64 // δ of the block
	dS     []float64 // ∂sum/∂δ of the block; nil: no derivative
	delta  []float64 // row of matrix for the current anchor
	mates  positives
	near   band    // negatives of the anchor sorted by distance, for drawing
	first  []int32 // the negative of every positive in mates, or -1 (singles)
	sums   hingeSums
	soft   softSums
}

var tripletEntry = Entry{
	Name:     "triplet",
	Aliases:  []string{"triplet_margin", "tripletmarginloss"},
	Title:    "Triplet loss",
	Paper:    "Schroff et al. 2015 (FaceNet); Le & Odobez (000); BSPML (002); Adapted triplet (003)",
	Equation: "Eq. 5 of 003; selection Eq. 7 of 003, Eq. 28-29 of 000",
	Formula:  "R_{(a,p,n)} [δ_ap - δ_an + m]₊, or softplus(δ_ap - δ_an + m)",
	Against:  Both,
	Draws:    true,
	Settings: []Setting{
		{Name: "distance", Symbol: "δ", Default: "l2sq", Choices: distances, Doc: distancesDoc},
		{Name: "margin", Symbol: "m", Default: 0.2, Min: 0, Max: 4, Doc: "how much farther a negative must be"},
		{Name: "smooth", Default: false, Doc: "softplus instead of the hinge"},
		{Name: "swap", Default: false, Doc: "the distance of a negative is the smaller one of those to anchor and " +
			"positive; against the batch only"},
		{Name: "select", Default: "semihard", Choices: selections, Each: selectionDocs,
			Doc: "selection of an anchor's triplets"},
		{Name: "gap", Symbol: "g", Default: -1.0, Min: -1, Max: 4,
			Doc: "how much farther than the positive a semi-hard negative may be; below 0: the margin"},
		overTerms("triplets"),
	},
	New: newTriplet,
}

func newTriplet(v Values, env Env) (Loss, error) {
	fn := &triplet{
		distance: asDistance(v.Word("distance")), margin: v.Number("margin"), smooth: v.Flag("smooth"),
		swap:   v.Flag("swap"),
		reduce: asReduction(v.Word("reduction")), choose: selection{asTake(v.Word("select")), v.Number("gap")},
	}
	if fn.choose.gap < 0 {
		fn.choose.gap = fn.margin
	}
	if fn.choose.take == takeEasy && fn.choose.gap >= fn.margin && !fn.smooth && !fn.swap {
		return nil, fmt.Errorf("losses: triplet: select is easy with gap %g and a hinge of margin %g: the loss "+
			"is always 0, expected smooth, swap or a gap below the margin", fn.choose.gap, fn.margin)
	}
	loss := &similarity{chain{fn: fn, exact: true, whole: fn.swap}}
	if fn.choose.drawsOne() {
		loss.draw = env.Step
	}
	return loss, nil
}

func (l *triplet) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	l.matrix = growSlice(l.matrix, len(S))
	l.distance.fillDistances(l.matrix, nil, S)
	clear(dS)
	var t tally
	l.dS = dS
	if l.swap && !p.self {
		panic("losses: triplet: swap compares a batch with itself: ref must be nil")
	}
	if l.swap && l.choose.takesEvery() {
		l.addSwapped(&t, dS, p)
	} else {
		for i := range p.rows {
			l.delta, t.d, t.touched = l.matrix[i*r:(i+1)*r], rowOfBlock(dS, i, r), false
			l.addAnchorTriplets(&t, i, p)
			if t.touched && !l.swap {
				l.distance.chainDistance(t.d, l.delta)
			}
		}
	}
	if l.swap && dS != nil {
		for i := range p.rows {
			l.distance.chainDistance(dS[i*r:(i+1)*r], l.matrix[i*r:(i+1)*r])
		}
	}
	return t.sum, t.tallyDivisor(l.reduce, p)
}

// addAnchorTriplets adds the triplets of anchor i to the tally; l.delta holds the distances.
func (l *triplet) addAnchorTriplets(t *tally, i int, p *pairs) {
	switch {
	case l.choose.take == takeHardest:
		if far, near := l.findHardest(i, p); far >= 0 && near >= 0 {
			l.addTriplet(t, far, near)
		}
	case !l.choose.takesEvery():
		mates, negatives := l.listSingles(i, p)
		for k, j := range mates {
			if n := negatives[k]; n >= 0 {
				l.addTriplet(t, int(j), int(n))
			}
		}
	case l.smooth:
		l.addSoftened(t, i, p)
	default:
		l.addHinges(t, i, p)
	}
}

// addTriplet adds the triplet of the current anchor with positive j and negative k.
func (l *triplet) addTriplet(t *tally, j, k int) {
	an, d := l.delta[k], t.d
	if l.swap {
		if pn := l.matrix[j*len(l.delta)+k]; pn < an {
			an, d = pn, rowOfBlock(l.dS, j, len(l.delta))
		}
	}
	v := l.delta[j] + l.margin - an
	slope := 1.0
	if l.smooth {
		v, slope = softplusSlope(v)
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
		d[k] -= slope
		t.touched = true
	}
}

// reduction is the method by which the terms of a loss become one number.
type reduction uint8

const (
	meanOfAll    reduction = iota
	meanOfActive           // mean of the terms above 0
	plainSum
)

// reductions are the names of the reductions.
var reductions = []string{"mean", "avg_nonzero", "sum"}

func asReduction(word string) reduction { return reduction(slices.Index(reductions, word)) }

// overTerms returns the setting of a reduction; what names the terms.
func overTerms(what string) Setting {
	return Setting{Name: "reduction", Symbol: "R", Default: "mean", Choices: reductions,
		Doc: "mean over the " + what + ", mean over those with loss above 0, or their sum"}
}

// tally adds up triplets; d is ∂sum/∂δ for the current anchor.
type tally struct {
	sum           float64
	count, active int // number of all terms, and of those above 0
	d             []float64
	touched       bool
}

func (t *tally) tallyDivisor(reduce reduction, p *pairs) float64 {
	switch reduce {
	case meanOfActive:
		return float64(t.active)
	case plainSum:
		return p.plainTerms()
	}
	return float64(t.count)
}

// softplusSlope returns log(1 + eᵛ) and its derivative, without overflow.
func softplusSlope(v float64) (value, slope float64) {
	e := math.Exp(-math.Abs(v))
	value = max(v, 0) + math.Log1p(e)
	if v >= 0 {
		return value, 1 / (1 + e)
	}
	return value, e / (1 + e)
}
