package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with an interval of 95 %.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// shiftBy shifts an interval.
func (i Interval) shiftBy(v float64) Interval {
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
	Settled int      `json:"settled"`     // images that people decided
	Found   int      `json:"found"`       // of these, wrong
	Draws   int      `json:"draws"`       // random draws that count
	Drawn   int      `json:"draws_wrong"` // of these, wrong labels
	Wrong   Interval `json:"wrong"`       // in all
	Left    Interval `json:"left"`        // not found yet
	// Always holds the true number left at every moment at once, with a probability of 95 %: what to stop by.
	Always Interval `json:"always"`
	// Predicted says that predictions make Wrong narrower; else it is by counting the draws alone.
	Predicted bool `json:"predicted"`
	// Known says that something was drawn, so that Estimate is more than the model's opinion.
	Known bool `json:"known"`
}

// drawn is a draw with its answer.
type drawn struct {
	Draw
	y     float64
	found float64 // Σ_{D_t} y
	total float64 // T_t
	low   float64 // L_t
	high  float64 // H_t
}

// poolSize returns n_t.
func (t *drawn) poolSize() float64 { return float64(t.Of) }

// computeRateIf returns the share of wrong labels among the undecided if m labels are wrong in all.
func (t *drawn) computeRateIf(m float64) float64 { return min(max((m-t.found)/t.poolSize(), 0), 1) }

const (
	alpha  = 0.05
	enough = 10 // draws that found a wrong label, and a right one, for the normal interval
)

// drawsOf returns the draws whose images are settled, in order. A draw from other images than those undecided then, as
// from the list of an earlier audit, does not count.
func drawsOf(decisions []Decision, s *State) (list []drawn) {
	type key struct {
		image int
		seq   int64
	}
	type moment struct {
		found float64
		of    int
	}
	seen := map[key]bool{}
	var turns []*outcome // images that are or were settled, with y
	var values []float64
	for i, o := range s.outcomes {
		if len(o.turns) > 0 {
			turns, values = append(turns, o), append(values, s.Wrong[i])
		}
	}
	known := map[int64]moment{} // by Seq
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
		then, ok := known[d.Draw.Seq]
		if !ok {
			then.of = len(s.Settled)
			for k, o := range turns {
				if o.settledBy(d.Draw.Seq) {
					then.found += values[k]
					then.of--
				}
			}
			known[d.Draw.Seq] = then
		}
		if then.of != d.Draw.Of {
			continue
		}
		t := drawn{Draw: *d.Draw, y: s.Wrong[d.Image], found: then.found}
		base := t.found + d.Draw.Left
		t.total, t.low, t.high = base+(t.y-t.Mean)/t.Chance, base+t.Draw.Low, base+t.Draw.High
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
	cut := func(i Interval) Interval {
		i.Low, i.High = min(max(i.Low, least), most), min(max(i.High, least), most)
		i.Estimate = min(max(i.Estimate, i.Low), i.High)
		return i
	}
	always := computeSequence(s.draws, float64(n))
	if always.Estimate = floats.Sum(s.Wrong); !c.Known {
		always = cut(always)
		c.Wrong, c.Left, c.Always = always, always.shiftBy(least), always.shiftBy(least)
		return c
	}
	alike := slices.DeleteFunc(slices.Clone(s.draws), func(t drawn) bool { return !t.isUniform() })
	c.Wrong = countInterval(alike, float64(n))
	wrong := wrongOf(s.draws)
	c.Drawn = wrong
	if m := len(s.draws); wrong >= enough && m-wrong >= enough {
		if p := predictInterval(s.draws, c.Wrong.Estimate); p.High-p.Low < c.Wrong.High-c.Wrong.Low {
			c.Wrong, c.Predicted = p, true
		}
	}
	always.Estimate = c.Wrong.Estimate
	c.Wrong, always = cut(c.Wrong), cut(always)
	c.Left, c.Always = c.Wrong.shiftBy(least), always.shiftBy(least)
	return c
}

// wrongOf counts the draws that found a wrong label.
func wrongOf(draws []drawn) (wrong int) {
	for _, t := range draws {
		if t.y > 0.5 {
			wrong++
		}
	}
	return wrong
}

// countInterval counts alone: it holds the m of n for which the draws would not be surprising, whatever was predicted.
// If few wrong or few right labels were drawn it goes by the exact distribution of their number, else by Rao's score.
func countInterval(draws []drawn, n float64) Interval {
	wrong := wrongOf(draws)
	most := n
	for i := range draws {
		most = min(most, draws[i].found+draws[i].poolSize())
	}
	tail := func(m float64) float64 { return computeScoreTail(draws, m) }
	if right := len(draws) - wrong; wrong < enough || right < enough {
		tail = func(m float64) float64 { return computeSurprise(draws, m, wrong) }
	}
	i := Interval{High: most}
	if tail(0) > 1-alpha/2 {
		i.Low = bisectRange(0, most, func(m float64) bool { return tail(m) > 1-alpha/2 })
	}
	if tail(most) < alpha/2 {
		i.High = most - bisectRange(0, most, func(v float64) bool { return tail(most-v) < alpha/2 })
	}
	low := 0.0
	for i := range draws {
		low = max(low, draws[i].found)
	}
	i.Estimate = bisectRange(low, most, func(m float64) bool {
		sum := 0.0
		for a := range draws {
			r := draws[a].computeRateIf(m)
			sum += (draws[a].y - r) / max(r*(1-r), 1e-12) / draws[a].poolSize()
		}
		return sum > 0
	})
	return i
}

// computeSurprise returns the probability of fewer than w wrong labels among the draws if m are wrong in all, and half
// of that of w. Time O(draws·min(w, draws - w)).
func computeSurprise(draws []drawn, m float64, w int) float64 {
	k, ofRight := w, false
	if right := len(draws) - w; right < w {
		k, ofRight = right, true
	}
	p := make([]float64, k+1) // of so many
	p[0] = 1
	for i := range draws {
		r := draws[i].computeRateIf(m)
		if ofRight {
			r = 1 - r
		}
		for j := k; j > 0; j-- {
			p[j] += r * (p[j-1] - p[j])
		}
		p[0] *= 1 - r
	}
	sum := floats.Sum(p[:k]) + p[k]/2
	if ofRight {
		return 1 - sum
	}
	return sum
}

// computeScoreTail returns the probability of a smaller score of the draws than theirs if m labels are wrong in all.
func computeScoreTail(draws []drawn, m float64) float64 {
	sum, vary := 0.0, 0.0
	for i := range draws {
		r, n := draws[i].computeRateIf(m), draws[i].poolSize()
		v := max(r*(1-r), 1e-12)
		sum, vary = sum+(draws[i].y-r)/(n*v), vary+1/(n*n*v)
	}
	return distuv.UnitNormal.CDF(sum / math.Sqrt(vary))
}

// predictInterval is the normal interval with predictions as control variates, if about m labels are wrong.
func predictInterval(draws []drawn, m float64) Interval {
	n := len(draws)
	c, x, alone := make([]float64, n), make([]float64, n), make([]float64, n) // T = c + λ·x
	for i := range draws {
		t := &draws[i]
		r := t.computeRateIf(m)
		alone[i] = 1 / (t.poolSize() * t.poolSize() * max(r*(1-r), 1e-3)) // variance of counting alone
		if c[i] = t.total; t.isUniform() {
			c[i], x[i] = t.found+t.poolSize()*t.y, t.Told-t.poolSize()*t.Said
		}
	}
	var cc, cx, xx, sum, mc, mx float64
	each := func(do func(w, c, x float64)) {
		for i := range draws {
			if draws[i].isUniform() {
				do(alone[i], c[i], x[i])
			}
		}
	}
	each(func(w, c, x float64) { sum, mc, mx = sum+w, mc+w*c, mx+w*x })
	mc, mx = mc/sum, mx/sum
	each(func(w, c, x float64) { cc, cx, xx = cc+w*(c-mc)*(c-mc), cx+w*(c-mc)*(x-mx), xx+w*(x-mx)*(x-mx) })
	lambda, worth := 0.0, 1.0
	if xx > 0 && cc > 0 {
		lambda = min(max(-cx/xx, 0), 1)
		worth = max((cc+2*lambda*cx+lambda*lambda*xx)/cc, 0.05)
	}
	mean, total := 0.0, 0.0
	weights := alone
	for i := range draws {
		t := &draws[i]
		if c[i] += lambda * x[i]; t.isUniform() {
			weights[i] /= worth
		} else {
			g := t.Left / t.poolSize()
			weights[i] *= t.poolSize() * t.poolSize() * g * (1 - g) / t.Vary
		}
		mean, total = mean+weights[i]*c[i], total+weights[i]
	}
	mean /= total
	square, fourth, expected := 0.0, 0.0, 0.0
	for i, w := range weights {
		q := w * w * (c[i] - mean) * (c[i] - mean)
		square, fourth, expected = square+q, fourth+q*q, expected+w*w*draws[i].Vary
	}
	// A few surprises make up most of the variance: it is known as well as from so many normal values.
	freedom := min(max(2*square*square/max(fourth, 1e-300)-1, 3), float64(n-2))
	square *= float64(n) / float64(n-2)
	se := math.Sqrt(max(square, expected)) / total // few surprises may not have shown the variance yet
	half := se * distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(1-alpha/2)
	return Interval{mean, mean - half, mean + half}
}

// bets are the shares c of what can be lost that are bet, and how the first wealth is divided among them: most of it on
// the large ones, which win soonest where few labels are wrong.
var bets = []struct{ stake, share float64 }{
	{0.015, 0.02}, {0.03, 0.04}, {0.06, 0.07}, {0.12, 0.1}, {0.25, 0.12}, {0.5, 0.15}, {0.75, 0.2}, {0.97, 0.3},
}

// computeSequence is the confidence sequence of the number of wrong labels among n.
func computeSequence(draws []drawn, n float64) Interval {
	// The wealth of those who bet that there are more than m falls in m, of those who bet on fewer it rises.
	more := func(m float64) bool {
		return exceedsWealth(draws, func(t *drawn) float64 {
			if m <= t.low {
				return math.Inf(1)
			}
			return (t.total - m) / (m - t.low)
		})
	}
	fewer := func(m float64) bool {
		return exceedsWealth(draws, func(t *drawn) float64 {
			if m >= t.high {
				return math.Inf(1)
			}
			return (m - t.total) / (t.high - m)
		})
	}
	low, high := 0.0, n
	if more(0) {
		low = bisectRange(0, n, more)
	}
	if fewer(n) {
		high = n - bisectRange(0, n, func(v float64) bool { return fewer(n - v) })
	}
	return Interval{(low + high) / 2, low, high}
}

// exceedsWealth reports whether the mean wealth of bets exceeds 2/alpha. gain returns what a whole stake wins at a
// draw.
func exceedsWealth(draws []drawn, gain func(*drawn) float64) bool {
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

// bisectRange returns where holds, true at from and false later, ends.
func bisectRange(from, to float64, holds func(float64) bool) float64 {
	for range 30 {
		if mid := (from + to) / 2; holds(mid) {
			from = mid
		} else {
			to = mid
		}
	}
	return to
}
