package audit

import (
	"cmp"
	"math"
	"slices"

	"winnow/audit/judges"
	"winnow/filters/noiserate"
)

// calibrate makes probabilities of what a filter's scorer says. Its P saturates where classes are narrow: a network trained
// on the labels draws each class together until every image out of its middle has P = 0, hard ones as well as wrong ones
// (κ of 10⁴ and more). Features that have not learnt the labels know better how many are wrong, if less well which. So
// the probability that a label is wrong falls with the scorer's order as it does, on average, by wrong: what the noise
// rate's estimate says of each label, an entry for each of o, NaN where it says nothing. An isotonic regression; the order
// stays the scorer's. What the given label leaves is the suggested one's by its share of that.
func calibrate(o judges.Opinion, labels []int, wrong []float64) {
	type block struct {
		rows       []int
		sum, count float64
	}
	join := func(a, b block) block { return block{append(a.rows, b.rows...), a.sum + b.sum, a.count + b.count} }
	order := make([]int, 0, len(wrong))
	total := 0.0
	for i, v := range wrong {
		if !math.IsNaN(v) {
			order = append(order, i)
			total += v
		}
	}
	rate := total / float64(max(len(order), 1))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(o.Order[a], o.Order[b]) })
	var pooled []block // whose means fall
	for _, i := range order {
		b := block{[]int{i}, wrong[i], 1}
		for n := len(pooled); n > 0; n-- {
			if last := pooled[n-1]; last.sum*b.count > b.sum*last.count && o.Order[last.rows[0]] != o.Order[i] {
				break
			}
			b, pooled = join(pooled[n-1], b), pooled[:n-1]
		}
		pooled = append(pooled, b)
	}
	expected := func(b block) float64 { return (b.sum + rate) / (b.count + 1) } // so many labels say no more than that
	var falling []block
	for _, b := range pooled { // few labels say less than their neighbours: they are seen together
		for n := len(falling); n > 0 && expected(falling[n-1]) <= expected(b); n-- {
			b, falling = join(falling[n-1], b), falling[:n-1]
		}
		falling = append(falling, b)
	}
	for _, b := range falling {
		for _, i := range b.rows {
			rescore(o, i, labels[i], 1-expected(b))
		}
	}
}

// rescore replaces the share of a given label among the classes by the probability that it is right.
func rescore(o judges.Opinion, i, given int, right float64) {
	share := o.Score[i]
	o.Score[i] = right
	if o.Suggested[i] != given {
		o.SuggestedScore[i] = (1 - right) * math.Min(o.SuggestedScore[i]/math.Max(1-share, 1e-300), 1)
	}
	if o.Suggested[i] == given || right >= 0.5 {
		o.Suggested[i], o.SuggestedScore[i] = given, right
	}
}

// expect makes an estimate that takes mistakes to go to all classes alike that of a judge who has learnt which classes are
// mistaken for which: the share of wrong labels that its probabilities add up to, in the set and in every class. The
// intervals hold both. judged are the rows that something is said of.
func (r *Result) expect(e *noiserate.Estimate, o judges.Opinion, labels, judged []int) {
	total, sums, counts := 0.0, make([]float64, len(e.Classes)), make([]float64, len(e.Classes))
	for _, row := range judged {
		y, wrong := labels[row], 1-o.Score[row]
		total += wrong
		sums[y] += wrong
		counts[y]++
	}
	around := func(rate, low, high *float64, expected, most float64) {
		*low, *high = math.Min(*low, expected-(*rate-*low)), math.Max(*high, expected+(*high-*rate))
		*rate, *low, *high = expected, math.Max(*low, 0), math.Min(*high, most)
	}
	around(&e.Rate, &e.Low, &e.High, math.Min(total/float64(len(judged)), noiserate.Most), noiserate.Most)
	for k, n := range counts {
		if n > 0 {
			around(&e.Classes[k], &e.ClassLow[k], &e.ClassHigh[k], sums[k]/n, 1)
		}
	}
	e.Method = r.Scorer
}
