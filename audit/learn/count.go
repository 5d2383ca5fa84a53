package learn

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with an interval of 95 %.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// minus shifts an interval.
func (i Interval) minus(v float64) Interval {
	return Interval{max(i.Estimate-v, 0), max(i.Low-v, 0), max(i.High-v, 0)}
}

// Share estimates a share p from w of n with the interval of Wilson (Probable inference, the law of succession, and
// statistical inference, JASA 22, 1927): counting alone, where nothing is predicted.
//
//	(p̂ + z²/2n ± z·√(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n),  p̂ = w/n, z = 1.96
//
// If n is 0, the interval is 0 to 1 and the estimate 0.
func Share(w, n int) Interval {
	if n == 0 {
		return Interval{High: 1}
	}
	const z = 1.959963984540054
	p, m := float64(w)/float64(n), float64(n)
	middle := p + z*z/(2*m)
	wide := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Interval{p, max((middle-wide)/(1+z*z/m), 0), min((middle+wide)/(1+z*z/m), 1)}
}

// Count says how many labels are wrong. Numbers are of images.
type Count struct {
	Images  int      `json:"images"`
	Settled int      `json:"settled"` // images that people decided
	Found   int      `json:"found"`   // of these, wrong
	Draws   int      `json:"draws"`   // random draws that count
	Wrong   Interval `json:"wrong"`   // in all
	Left    Interval `json:"left"`    // not found yet
	// Always holds the true number left at every moment at once, with a probability of 95 %: what to stop by.
	Always Interval `json:"always"`
	// Normal says that Wrong is the normal interval; else it is that of Always.
	Normal bool `json:"normal"`
	// Known says that something was drawn, so that Estimate is more than the model's opinion.
	Known bool `json:"known"`
}

// drawn is a draw with its answer.
type drawn struct {
	Draw
	y     float64
	total float64 // T_t
	low   float64 // L_t
	high  float64 // H_t
	base  float64 // Σ_{D_t} y + Σ_{U_t} g
}

const (
	alpha  = 0.05
	enough = 10 // draws that found a wrong label, and a right one, for the normal interval
)

// drawsOf returns the draws whose images are settled, in order.
func drawsOf(decisions []Decision, s *State) (list []drawn) {
	type key struct {
		image int
		seq   int64
	}
	seen := map[key]bool{}
	var turns []*outcome // images that are or were settled, with y
	var values []float64
	for i, o := range s.outcomes {
		if len(o.turns) > 0 {
			turns, values = append(turns, o), append(values, s.Wrong[i])
		}
	}
	known := map[int64]float64{} // Σ_{D_t} y by Seq
	for i := range decisions {
		d := &decisions[i]
		if d.How != Random || d.Draw == nil || d.Image < 0 || d.Image >= len(s.Settled) {
			continue
		}
		at := key{d.Image, d.Draw.Seq}
		if seen[at] || s.Settled[d.Image] == Unsure {
			continue
		}
		seen[at] = true
		found, ok := known[d.Draw.Seq]
		if !ok {
			for k, o := range turns {
				if o.settledBy(d.Draw.Seq) {
					found += values[k]
				}
			}
			known[d.Draw.Seq] = found
		}
		t := drawn{Draw: *d.Draw, y: s.Wrong[d.Image], base: found + d.Draw.Left}
		t.total = t.base + (t.y-t.Mean)/t.Chance
		t.low, t.high = t.base+t.Draw.Low, t.base+t.Draw.High
		for range max(t.Times, 1) {
			list = append(list, t)
		}
	}
	return list
}

// Count returns how many labels are wrong, and how many of them are left.
func (s *State) Count() Count {
	n := len(s.Wrong)
	c := Count{Images: n, Settled: s.found + s.right, Found: s.found, Draws: len(s.draws), Known: len(s.draws) > 0}
	least, most := float64(s.found), float64(n-s.right)
	expected := 0.0
	for _, p := range s.Wrong {
		expected += p
	}
	cut := func(i Interval) Interval {
		i.Low, i.High = min(max(i.Low, least), most), min(max(i.High, least), most)
		i.Estimate = min(max(i.Estimate, i.Low), i.High)
		return i
	}
	always := cut(sequence(s.draws, float64(n)))
	always.Estimate = expected
	wrong := 0
	sum, weights := 0.0, 0.0
	for _, t := range s.draws {
		w := 1 / t.Doubt
		sum, weights = sum+w*t.total, weights+w
		if t.y > 0.5 {
			wrong++
		}
	}
	if len(s.draws) > 0 {
		always.Estimate = sum / weights
	}
	always = cut(always)
	c.Wrong = always
	if m := len(s.draws); wrong >= enough && m-wrong >= enough {
		mean, square, fourth, expected := sum/weights, 0.0, 0.0, 0.0
		for _, t := range s.draws {
			w := 1 / t.Doubt
			q := w * w * (t.total - mean) * (t.total - mean)
			square, fourth, expected = square+q, fourth+q*q, expected+w*w*t.Vary
		}
		// A few surprises make up most of the variance: it is known as well as from so many normal values.
		freedom := max(2*square*square/max(fourth, 1e-300)-1, 3)
		square *= float64(m) / float64(m-1)
		se := math.Sqrt(max(square, expected)) / weights // few surprises may not have shown the variance yet
		half := se * distuv.StudentsT{Sigma: 1, Nu: min(freedom, float64(m-1))}.Quantile(1-alpha/2)
		c.Wrong, c.Normal = cut(Interval{mean, mean - half, mean + half}), true
	}
	c.Left, c.Always = c.Wrong.minus(least), always.minus(least)
	return c
}

// bets are the shares c of what can be lost that are bet, and how the first wealth is divided among them: most of it on
// the large ones, which win soonest where few labels are wrong.
var bets = []struct{ stake, share float64 }{
	{0.015, 0.02}, {0.03, 0.04}, {0.06, 0.07}, {0.12, 0.1}, {0.25, 0.12}, {0.5, 0.15}, {0.75, 0.2}, {0.97, 0.3},
}

// sequence is the confidence sequence of the number of wrong labels among n.
func sequence(draws []drawn, n float64) Interval {
	// The wealth of those who bet that there are more than m falls in m, of those who bet on fewer it rises.
	more := func(m float64) bool {
		return wealthy(draws, func(t *drawn) float64 {
			if m <= t.low {
				return math.Inf(1)
			}
			return (t.total - m) / (m - t.low)
		})
	}
	fewer := func(m float64) bool {
		return wealthy(draws, func(t *drawn) float64 {
			if m >= t.high {
				return math.Inf(1)
			}
			return (m - t.total) / (t.high - m)
		})
	}
	low, high := 0.0, n
	if more(0) {
		low = bisect(0, n, more)
	}
	if fewer(n) {
		high = n - bisect(0, n, func(v float64) bool { return fewer(n - v) })
	}
	return Interval{(low + high) / 2, low, high}
}

// wealthy reports whether the mean wealth of bets exceeds 2/alpha. gain returns what a whole stake wins at a draw.
func wealthy(draws []drawn, gain func(*drawn) float64) bool {
	best, logs := math.Inf(-1), make([]float64, len(bets))
	for i := range draws {
		g := gain(&draws[i])
		if math.IsInf(g, 1) {
			return true
		}
		for j, b := range bets {
			logs[j] += math.Log1p(max(b.stake*g, -0.999999))
		}
	}
	for _, v := range logs {
		best = max(best, v)
	}
	sum := 0.0
	for j, v := range logs {
		sum += bets[j].share * math.Exp(v-best)
	}
	return best+math.Log(sum) >= math.Log(2/alpha)
}

// bisect returns where holds, true at from and false later, ends.
func bisect(from, to float64, holds func(float64) bool) float64 {
	for range 40 {
		if mid := (from + to) / 2; holds(mid) {
			from = mid
		} else {
			to = mid
		}
	}
	return to
}
