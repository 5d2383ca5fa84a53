package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
)

// surest caps the absolute log odds of an opinion before they are averaged with others.
const surest = 12

// weighNetworks combines the log odds o_i of an opinion with margins by fine-tuned networks. x_i1 is the margin of the
// given label by the network that did not learn from the image. x_i2 is the margin while networks learned it, or x_i1
// if no network did:
//
//	o_i' = a + b (o_i + Σ_m (a_m + b_m x_im)),   b_m > 0
//
// a_m and b_m maximise the likelihood of the opinion's probabilities, without the true labels. The more the margins
// contradict these probabilities, the smaller their weight; margins with b_m ≤ 0 are left out. a and b rescale the
// combination in the same way, so that the expected number of right labels stays the same. weighNetworks returns the
// reason for [Result.Why].
func weighNetworks(v judges.Opinion, labels []int, seen *crossfit.Seen) string {
	if seen.Folds == 0 {
		return ""
	}
	learned := make([]float64, len(seen.Learned))
	var rows []int // rows that networks have scored
	order, right := make([]float64, len(v.Order)), make([]float64, len(v.Order))
	for i, o := range v.Order {
		order[i] = math.Max(-surest, math.Min(o, surest))
		right[i] = applyLogistic(order[i])
		if learned[i] = seen.Learned[i]; math.IsNaN(learned[i]) {
			learned[i] = seen.Unseen[i]
		}
		if !math.IsNaN(seen.Unseen[i]) && !math.IsInf(o, 0) {
			rows = append(rows, i)
		}
	}
	truth, parts := pickRows(right, rows), 0
	for _, margins := range [][]float64{seen.Unseen, learned} {
		x := pickRows(margins, rows)
		a, b := fitLogOdds(truth, x)
		if b <= 0 {
			continue
		}
		for i, row := range rows {
			order[row] += a + b*x[i]
		}
		parts++
	}
	why := fmt.Sprintf("fine-tuned networks in %d of %d folds", seen.Taken, seen.Folds)
	if parts == 0 {
		return why + ", not used: their margins contradict the features"
	}
	a, b := fitLogOdds(truth, pickRows(order, rows))
	for _, i := range rows {
		replaceLogOdds(v, i, labels[i], a+b*order[i], seen)
	}
	return fmt.Sprintf("%s; log odds averaged with %d kinds of their margins", why, parts)
}

// replaceLogOdds replaces the log odds of a label. The suggested class keeps its share of the total probability of the
// other classes. If no class was suggested, the networks' most likely other class is used.
func replaceLogOdds(v judges.Opinion, i, given int, order float64, seen *crossfit.Seen) {
	suggested, share := seen.Rival[i], seen.RivalShare[i]
	if s := v.Suggested[i]; s != given {
		suggested, share = s, math.Min(v.SuggestedScore[i]/math.Max(1-v.Score[i], 1e-300), 1)
	}
	v.Order[i], v.Score[i] = order, applyLogistic(order)
	v.Suggested[i], v.SuggestedScore[i] = given, v.Score[i]
	if other := (1 - v.Score[i]) * share; other > v.Score[i] {
		v.Suggested[i], v.SuggestedScore[i] = suggested, other
	}
}

func applyLogistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// fitLogOdds returns the a and b for which the log odds a + b x maximise the likelihood of the probabilities right, by
// Newton's method; b is 0 if x does not vary.
func fitLogOdds(right, x []float64) (a, b float64) {
	mean, spread := stat.PopMeanStdDev(x, nil)
	if !(spread > 0) { // x is constant or empty
		return 0, 0
	}
	for range 50 {
		g0, g1, h00, h01, h11 := -1e-3*a, -1e-3*b, 1e-3, 0.0, 1e-3 // a small ridge keeps the fit finite
		for i, t := range right {
			u := (x[i] - mean) / spread
			p := applyLogistic(a + b*u)
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
