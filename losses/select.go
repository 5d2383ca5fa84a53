package losses

import (
	"math"
	"slices"
)

// selection selects the triplets of an anchor that a loss uses (also called a miner). For a positive at distance δ_ap,
// the eligible negatives n are those in a window:
//
//	all             every n
//	violating       δ_an - δ_ap ≤ g            the margin miner's sets; violating is its "all",
//	hard            δ_an - δ_ap ≤ 0            the union of hard and semihard_all
//	semihard_all    0 < δ_an - δ_ap ≤ g
//	easy            δ_an - δ_ap > g
//	semihard        0 ≤ δ_an - δ_ap < g        one n, uniform
//	random_semihard δ_an - δ_ap < g            one n, uniform: includes hard negatives, as in the formula
//	fixed_semihard  0 < δ_an - δ_ap            the nearest n (ties: the first), which may be beyond the margin
//
// The first five take all n in the window. The others take one n for every positive, or none if the window is empty.
// batch_hard has no window: it takes the farthest positive with the nearest negative (ties: the first). The selection
// has no gradient. p ranges over P(a) and n over N(a); against a bank these are its members.
// Source: METHODS 6.2 to 6.4. semihard: Eq. 7 of Yu et al. (003), after Schroff et al., "FaceNet", CVPR 2015;
// random and fixed: Eq. 28 and 29 of Le & Odobez (000); batch_hard: Hermans et al., "In defense of the triplet
// loss", 2017; the sets are the TripletMarginMiner of pytorch-metric-learning.
type selection struct {
	take take
	gap  float64 // g
}

// take is a kind of selection.
type take uint8

const (
	takeSemihard take = iota
	takeRandom
	takeFixed
	takeHardest
	takeAll
	takeViolating
	takeHard
	takeSemihardAll
	takeEasy
)

// selections lists the names of the kinds of selection.
var selections = []string{"semihard", "random_semihard", "fixed_semihard", "batch_hard", "all", "violating", "hard",
	"semihard_all", "easy"}

func asTake(word string) take { return take(slices.Index(selections, word)) }

// selectionDocs describes each kind of selection.
var selectionDocs = []string{
	"for every positive one negative, drawn from δ_ap ≤ δ_an < δ_ap + g",
	"for every positive one negative, drawn from δ_an < δ_ap + g, including hard ones",
	"for every positive the nearest negative with δ_an > δ_ap",
	"the farthest positive with the nearest negative",
	"every positive with every negative",
	"all with δ_an ≤ δ_ap + g: hard and semihard_all together",
	"all with δ_an ≤ δ_ap",
	"all with δ_ap < δ_an ≤ δ_ap + g",
	"all with δ_an > δ_ap + g",
}

// takesEvery reports whether all negatives in a window are taken.
func (s selection) takesEvery() bool { return s.take >= takeAll }

// drawsOne reports whether one negative in a window is drawn.
func (s selection) drawsOne() bool { return s.take <= takeRandom }

// windowBounds returns the bounds low ≤ δ_an < high for a positive at distance ap. Both grow with ap.
func (s selection) windowBounds(ap float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	switch s.take {
	case takeViolating:
		high = nextAbove(ap + s.gap)
	case takeHard:
		high = nextAbove(ap)
	case takeSemihardAll:
		low, high = nextAbove(ap), nextAbove(ap+s.gap)
	case takeEasy:
		low = nextAbove(ap + s.gap)
	case takeSemihard:
		low, high = ap, ap+s.gap
	case takeRandom:
		high = ap + s.gap
	case takeFixed:
		low = nextAbove(ap)
	}
	return low, high
}

// nextAbove returns the next larger number, so that d ≤ x is equivalent to d < nextAbove(x).
func nextAbove(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

// positives holds P(i) of one anchor sorted by distance, each with the window of its negatives and its reach c = δ_ap
// + m. For a negative at distance δ, the positives whose window contains it are contiguous. So are those with c > δ,
// whose triplet with the negative has a hinge above 0. Two searches therefore replace |P| terms.
type positives struct {
	band
	low, high, reach []float64
	whole            bool // every window contains every negative
}

// rankPositives loads and sorts P(i), and returns their number.
func (q *positives) rankPositives(delta []float64, i int, p *pairs, s selection, margin float64) int {
	q.sortPositives(delta, i, p)
	n := len(q.order)
	q.low, q.high, q.reach = growSlice(q.low, n), growSlice(q.high, n), growSlice(q.reach, n)
	q.whole = s.take == takeAll
	for k, j := range q.order {
		q.reach[k] = delta[j] + margin
		if !q.whole {
			q.low[k], q.high[k] = s.windowBounds(delta[j])
		}
	}
	return n
}

// choosingRange returns the range of positives whose windows contain a negative at distance an.
func (q *positives) choosingRange(an float64) (from, to int) {
	if q.whole {
		return 0, len(q.order)
	}
	return upTo(q.high, an), upTo(q.low, an)
}

// upTo returns how many numbers in a sorted row are at most d.
func upTo(row []float64, d float64) int {
	n := 0
	for len(row) > 0 {
		half := len(row) / 2
		if row[half] <= d {
			n += half + 1
			row = row[half+1:]
		} else {
			row = row[:half]
		}
	}
	return n
}
