package audit

import (
	"cmp"
	"math"
	"slices"

	"winnow/audit/judges"
	"winnow/filters/noiserate"
)

// calibrateScores turns the scores of a filter's scorer into probabilities. The scorer's own P saturates if classes are
// narrow: a network trained on the labels contracts each class until every image outside the middle of its class has P
// = 0, whether its label is wrong or it is merely a hard image (κ of 10⁴ and more). Features that were not trained on
// the labels predict the number of wrong labels better, though not which labels are wrong. So the probability that a
// label is wrong is an isotonic regression of the values in wrong on the scorer's order, and the order stays unchanged.
// wrong holds for each entry of o the probability by the noise-rate estimate, NaN if unknown. The suggested label keeps
// its share of the probability that the given label is wrong.
func calibrateScores(o judges.Opinion, labels []int, wrong []float64) {
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
	var pooled []block // means fall from block to block
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
	expected := func(b block) float64 { return (b.sum + rate) / (b.count + 1) } // shrink small blocks to the rate
	var falling []block
	for _, b := range pooled { // shrinking may have changed the order of small blocks: pool again
		for n := len(falling); n > 0 && expected(falling[n-1]) <= expected(b); n-- {
			b, falling = join(falling[n-1], b), falling[:n-1]
		}
		falling = append(falling, b)
	}
	for _, b := range falling {
		for _, i := range b.rows {
			replaceScore(o, i, labels[i], 1-expected(b))
		}
	}
}

// replaceScore replaces the score of a given label by right, the probability that the label is right.
func replaceScore(o judges.Opinion, i, given int, right float64) {
	share := o.Score[i]
	o.Score[i] = right
	if o.Suggested[i] != given {
		o.SuggestedScore[i] = (1 - right) * math.Min(o.SuggestedScore[i]/math.Max(1-share, 1e-300), 1)
	}
	if o.Suggested[i] == given || right >= 0.5 {
		o.Suggested[i], o.SuggestedScore[i] = given, right
	}
}

// replaceEstimate replaces an estimate that assumes uniform noise (each wrong label is equally often any other class).
// The new estimate comes from a judge that has learnt which classes are confused: the mean of its probabilities, over
// the set and over every class. The new intervals contain both estimates. judged holds the rows that have a score.
func (r *Result) replaceEstimate(e *noiserate.Estimate, o judges.Opinion, labels, judged []int) {
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

const (
	// even is the threshold below which noise counts as uniform: the gain in log likelihood of held-out labels, in nats
	// a label, from modelling which classes are confused. Measured: at most 0.004 for random flips, at least 0.023 for
	// human labels (docs/log, 2026-11).
	even = 0.01
	// seen is the least share of Doubt that random flips must explain. With fewer flips, the test is inconclusive.
	seen = 0.05
)

// widenInterval widens the interval of an estimate unless a test has shown that noise is uniform. flips is the noise
// rate under random flips. uneven is the gain in log likelihood of held-out labels from modelling which classes are
// confused; nil if unknown. Mistakes that people repeat look like similar classes, so the upper end assumes that all
// such similarity is due to mistakes. If few labels look flipped, the interval starts at 0.
func (r *Result) widenInterval(e *noiserate.Estimate, flips float64, uneven *float64) {
	enough := flips >= seen*e.Doubt
	if r.Alike = enough && uneven != nil && *uneven < even; r.Alike || r.Blind {
		return
	}
	if !enough {
		e.Low = 0
	}
	e.High = math.Min(math.Max(e.High, e.Doubt), noiserate.Most)
}
