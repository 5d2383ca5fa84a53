package filters

import (
	"math"

	"winnow/features"
)

// Verdict is what a filter says of one row of a batch when the earlier vectors of the row's own image are left out of
// the bank.
type Verdict struct {
	Odds float64 // log(P/(1-P)) of the given label; +Inf where nothing is known against it
	Best int     // the class that explains the row best, the given one where none is better; -1: nothing known
}

// Known reports whether there was anything to judge by.
func (v Verdict) Known() bool { return v.Best >= 0 }

// P returns the probability of the given label.
func (v Verdict) P() float64 { return probability(v.Odds) }

// note is what a scorer remembers of a row that it judged, so that the row's own class can be judged again.
type note struct {
	rivals float64 // log Σ_{k≠y} e^{l_k}; -Inf: none
	best   int     // the likeliest k ≠ y; -1: none
	top    float64 // its l_k
}

// leaver is a scorer that can take vectors out of the class of a row it judged last.
type leaver interface {
	Scorer
	observe()
	// ownLogit is l_y once the class of y is no more than members vectors that add up to rest.
	ownLogit(z []float32, y int, rest []float64, members int, ref *features.Bank) float64
	noted(i int) note
}

// Observe makes every Keep from now on remember what [Filter.LeaveOut] needs, and reports whether this filter can
// leave an image out: AvgSim and vMF-Sim can, whose judgement of a row is a function of its class's sum. (Proxies have
// learned from every image, and the ablations are no probabilities.)
func (f *Filter) Observe() bool {
	l, ok := f.scorer.(leaver)
	if !ok {
		return false
	}
	l.observe()
	if f.early != nil {
		f.early.(leaver).observe()
	}
	return true
}

// LeaveOut judges the rows of the last Keep once more, each without the bank's members of its own image: the bank
// holds what earlier epochs pushed, and an image that was kept once would speak for itself. own lists the positions,
// in bank.Set(), of the members of row i's image; those that carry another label than the row stay. The bank must be
// what it was at that Keep. Rivals keep the concentration that they pool with a class too small for its own, though
// that knows the members left out.
//
//	l_y = T(z,y) of AvgSim, log f_y(z) of vMF-Sim, from Sum(y) - Σ own,   odds = l_y - log Σ_{k≠y} e^{l_k}
//
// Time O(d) a row and own member, and a Bessel function a row of vMF-Sim: no second product.
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
		n := judge.noted(i)
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

// observed are the notes of a scorer; the zero value takes none.
type observed struct {
	on    bool
	notes []note
}

func (o *observed) observe() { o.on = true }

func (o *observed) noted(i int) note { return o.notes[i] }

// size makes room for n rows.
func (o *observed) size(n int) {
	if !o.on {
		return
	}
	o.notes = features.Grow(o.notes, n)
}

// take notes row i of class y, whose logit is own and whose log odds are odds, among rivals with the logits l.
func take[T float32 | float64](o *observed, i int, l []T, classes []int, y int, own, odds float64) {
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
