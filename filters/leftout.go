package filters

import (
	"math"

	"winnow/features"
)

// Verdict is the judgement of one row of a batch when the earlier vectors of the row's own image are left out
// of the bank.
type Verdict struct {
	Odds float64 // log(P/(1-P)) of the given label; +Inf if nothing contradicts it
	Best int     // the class that fits the row best, the given one if no other fits better; -1: nothing known
}

// Known reports whether there was anything to judge by.
func (v Verdict) Known() bool { return v.Best >= 0 }

// P returns the probability of the given label.
func (v Verdict) P() float64 { return oddsToProb(v.Odds) }

// note stores what is needed to judge a row's own class again.
type note struct {
	rivals float64 // log Σ_{k≠y} e^{l_k}; -Inf: none
	best   int     // the likeliest k ≠ y; -1: none
	top    float64 // its l_k
}

// leaver is a scorer that can remove vectors from the class of a row it judged last.
type leaver interface {
	Scorer
	startObserving()
	// ownLogit returns l_y for a class y that is reduced to members vectors with sum rest.
	ownLogit(z []float32, y int, rest []float64, members int, ref *features.Bank) float64
	notedRow(i int) note
}

// Observe makes every later Keep store what [Filter.LeaveOut] needs, and reports whether this filter can leave
// an image out. AvgSim and vMF-Sim can, because their judgement of a row is a function of its class's sum.
// (Proxies have learned from every image, and the ablations are not probabilities.)
func (f *Filter) Observe() bool {
	l, ok := f.scorer.(leaver)
	if !ok {
		return false
	}
	l.startObserving()
	if f.early != nil {
		f.early.(leaver).startObserving()
	}
	return true
}

// LeaveOut judges the rows of the last Keep again, each without the bank's members of its own image. The bank
// holds what earlier epochs pushed, so an image that was kept once would otherwise support its own label. own
// lists the positions, in bank.Set(), of the members of row i's image; members with another label than the row
// stay. The bank must not have changed since that Keep. Classes too small for a concentration of their own keep
// the pooled one, although that includes the members left out.
//
//	l_y = T(z,y) of AvgSim, log f_y(z) of vMF-Sim, from Sum(y) - Σ own,   odds = l_y - log Σ_{k≠y} e^{l_k}
//
// Time O(d) per row and own member, plus a Bessel function per row for vMF-Sim; there is no second product.
func (f *Filter) LeaveOut(dst []Verdict, z features.Set, bank *features.Bank, own func(row int) []int) []Verdict {
	if z.Len() == 0 {
		return dst[:0]
	}
	judge, ok := f.judge.(leaver)
	if !ok {
		panic("filters: leave out: the filter does not observe")
	}
	dst = dst[:0]
	members := bank.Set()
	for i, y := range z.Labels[:z.Len()] {
		count := bank.Count(y)
		rest := bank.Sum(y)
		for _, at := range own(i) {
			if members.Labels[at] != y {
				continue
			}
			if count == bank.Count(y) {
				f.rest = append(f.rest[:0], rest...)
				rest = f.rest
			}
			for j, v := range members.Row(at) {
				rest[j] -= float64(v)
			}
			count--
		}
		n := judge.notedRow(i)
		v := Verdict{Odds: Unjudged, Best: -1}
		if count > 0 && n.best >= 0 {
			l := judge.ownLogit(z.Row(i), y, rest, count, bank)
			v.Odds, v.Best = l-n.rivals, y
			if n.top > l {
				v.Best = n.best
			}
		}
		dst = append(dst, v)
	}
	return dst
}

// observed holds the notes of a scorer; the zero value stores none.
type observed struct {
	on    bool
	notes []note
}

func (o *observed) startObserving() { o.on = true }

func (o *observed) notedRow(i int) note { return o.notes[i] }

// growNotes makes room for n rows.
func (o *observed) growNotes(n int) {
	if !o.on {
		return
	}
	o.notes = features.Grow(o.notes, n)
}

// storeNote stores the note of row i of class y, with logit own and log odds odds, among rivals with the logits l.
func storeNote[T float32 | float64](o *observed, i int, l []T, classes []int, y int, own, odds float64) {
	if !o.on {
		return
	}
	n := note{best: -1, top: math.Inf(-1), rivals: own - odds}
	for _, k := range classes {
		if v := float64(l[k]); k != y && v > n.top {
			n.best, n.top = k, v
		}
	}
	o.notes[i] = n
}
