package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
)

// surest bounds the log odds of an opinion that are averaged with others.
const surest = 12

// weigh replaces the log odds of an opinion by their mean with those of fine-tuned networks:
//
//	o_i' = (o_i + Σ_m (a_m + b_m x_im)) / (1 + M),   b_m > 0
//
// where x_i1 is the margin of the given label by networks that have not learned from the image, and x_i2 the one while
// networks learned it (x_i1 if none did). a_m and b_m maximise the likelihood of the opinion's probabilities, without
// any truth: the more a margin contradicts them the less it counts, and it is left out if b_m ≤ 0. The mean
// probability of a label stays about as it is. weigh returns the reason.
func weigh(v judges.Opinion, labels []int, seen *crossfit.Seen) string {
	var rows []int
	var unseen, learned, first, right []float64
	for i, u := range seen.Unseen {
		if math.IsNaN(u) || math.IsInf(v.Order[i], 0) {
			continue
		}
		l := seen.Learned[i]
		if math.IsNaN(l) {
			l = u
		}
		rows, unseen, learned = append(rows, i), append(unseen, u), append(learned, l)
		order := math.Max(-surest, math.Min(v.Order[i], surest))
		first, right = append(first, order), append(right, logistic(order))
	}
	if len(rows) == 0 {
		return ""
	}
	all, shares := first, []float64{stat.PopStdDev(first, nil), 0, 0}
	parts := 1.0
	for m, margins := range [][]float64{unseen, learned} {
		a, b := explain(right, margins)
		if b <= 0 {
			continue
		}
		parts++
		shares[m+1] = b * stat.PopStdDev(margins, nil)
		for at, x := range margins {
			all[at] += a + b*x
		}
	}
	if parts == 1 {
		return "fine-tuned networks contradict the features and do not count"
	}
	for at, i := range rows {
		reconsider(v, i, labels[i], all[at]/parts, seen)
	}
	total := shares[0] + shares[1] + shares[2]
	return fmt.Sprintf("mean log odds of all this, which counts %.0f %%, of what the networks say of images before they "+
		"learn them, %.0f %%, and while they learn them, %.0f %%", 100*shares[0]/total, 100*shares[1]/total,
		100*shares[2]/total)
}

// reconsider replaces the log odds of a label. The suggested class keeps its share of the probability of all other
// classes; if there was none, networks suggest one.
func reconsider(v judges.Opinion, i, given int, order float64, seen *crossfit.Seen) {
	suggested, share := seen.Rival[i], seen.RivalShare[i]
	if s := v.Suggested[i]; s != given {
		suggested, share = s, math.Min(v.SuggestedScore[i]/math.Max(1-v.Score[i], 1e-300), 1)
	}
	v.Order[i], v.Score[i] = order, logistic(order)
	v.Suggested[i], v.SuggestedScore[i] = given, v.Score[i]
	if other := (1 - v.Score[i]) * share; other > v.Score[i] {
		v.Suggested[i], v.SuggestedScore[i] = suggested, other
	}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// explain returns the a and b for which the log odds a + b x make the probabilities right likeliest, by Newton's
// method; b is 0 if x does not vary.
func explain(right, x []float64) (a, b float64) {
	mean, spread := stat.PopMeanStdDev(x, nil)
	if !(spread > 0) {
		return 0, 0
	}
	for range 50 {
		g0, g1, h00, h01, h11 := -1e-3*a, -1e-3*b, 1e-3, 0.0, 1e-3 // a small ridge: all may be certain
		for i, t := range right {
			u := (x[i] - mean) / spread
			p := logistic(a + b*u)
			g0, g1 = g0+t-p, g1+(t-p)*u
			h00, h01, h11 = h00+p*(1-p), h01+p*(1-p)*u, h11+p*(1-p)*u*u
		}
		det := h00*h11 - h01*h01
		da, db := (h11*g0-h01*g1)/det, (h00*g1-h01*g0)/det
		if a, b = a+da, b+db; math.Abs(da)+math.Abs(db) < 1e-9 {
			break
		}
	}
	return a - b*mean/spread, b / spread
}
