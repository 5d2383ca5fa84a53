package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
)

// surest bounds the log odds of an opinion that are averaged with others.
const surest = 12

// Beside is a second judgement of the labels of a set, with an entry for each row; the order of a row of which nothing
// is known is NaN.
type Beside struct {
	Name string // of what judges, for Result.Why
	judges.Opinion
}

// selectJudgement returns the judgement of some rows.
func (b *Beside) selectJudgement(rows []int) *Beside {
	return &Beside{b.Name, judges.Opinion{Order: pickRows(b.Order, rows), Score: pickRows(b.Score, rows),
		Suggested: pickRows(b.Suggested, rows), SuggestedScore: pickRows(b.SuggestedScore, rows)}}
}

// witness says of each label how right it looks, on a scale of its own.
type witness struct {
	what string
	says []float64 // NaN: nothing
}

// testimony is what an opinion is weighed with.
type testimony struct {
	by []witness
	// rival returns the likeliest class of a row besides the given one, and its share of the probability of all such
	// classes.
	rival func(i int) (class int, share float64)
}

// ofNetworks returns what fine-tuned networks say: the margin of the given label by those that have not learned from
// the image, and the margin while networks learned it, the first if none did.
func ofNetworks(seen *crossfit.Seen) testimony {
	learned := slices.Clone(seen.Learned)
	for i, v := range learned {
		if math.IsNaN(v) {
			learned[i] = seen.Unseen[i]
		}
	}
	return testimony{[]witness{{"what fine-tuned networks say of images before they learn them", seen.Unseen},
		{"what they say while they learn them", learned}},
		func(i int) (int, float64) { return seen.Rival[i], seen.RivalShare[i] }}
}

// newTestimony returns the judgement as a witness.
func (b *Beside) newTestimony() testimony {
	return testimony{[]witness{{b.Name, b.Order}}, func(i int) (int, float64) {
		return b.Suggested[i], math.Min(b.SuggestedScore[i]/math.Max(1-b.Score[i], 1e-300), 1)
	}}
}

// weighWitnesses replaces the log odds of an opinion by their mean with those of witnesses:
//
//	o_i' = a + b (o_i + Σ_m (a_m + b_m x_im)) / (1 + M),   b_m > 0
//
// where x_im is what witness m says of label i. a_m and b_m maximise the likelihood of the opinion's probabilities,
// without any truth: the more a witness contradicts them the less it counts, and it is left out if b_m ≤ 0. a and b do
// the same for the mean, so that as many labels are expected to be right as before. weigh returns the reason.
func weighWitnesses(v judges.Opinion, labels []int, t testimony) string {
	order, right := make([]float64, len(v.Order)), make([]float64, len(v.Order))
	parts := make([]float64, len(v.Order)) // of the mean
	for i, o := range v.Order {
		order[i] = math.Max(-surest, math.Min(o, surest))
		right[i], parts[i] = applyLogistic(order[i]), 1
	}
	said, shares := []string{"all this"}, []float64{stat.PopStdDev(order, nil)}
	total := shares[0]
	for _, w := range t.by {
		var rows []int
		for i, x := range w.says {
			if !math.IsNaN(x) && !math.IsInf(v.Order[i], 0) {
				rows = append(rows, i)
			}
		}
		says := pickRows(w.says, rows)
		a, b := fitLogOdds(pickRows(right, rows), says)
		if b <= 0 {
			continue
		}
		for _, i := range rows {
			order[i] += a + b*w.says[i]
			parts[i]++
		}
		share := b * stat.PopStdDev(says, nil)
		said, shares, total = append(said, w.what), append(shares, share), total+share
	}
	if len(said) == 1 {
		return ""
	}
	var rows []int
	for i, n := range parts {
		if order[i] /= n; n > 1 {
			rows = append(rows, i)
		}
	}
	a, b := fitLogOdds(pickRows(right, rows), pickRows(order, rows))
	for _, i := range rows {
		replaceLogOdds(v, i, labels[i], a+b*order[i], t.rival)
	}
	for m, share := range shares {
		said[m] += fmt.Sprintf(" (counts %.0f %%)", 100*share/total)
	}
	return "mean log odds of " + strings.Join(said, " and of ")
}

// replaceLogOdds replaces the log odds of a label. The suggested class keeps its share of the probability of all other
// classes; if there was none, it is the rival.
func replaceLogOdds(v judges.Opinion, i, given int, order float64, rival func(i int) (int, float64)) {
	suggested, share := rival(i)
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

// fitLogOdds returns the a and b for which the log odds a + b x make the probabilities right likeliest, by Newton's
// method; b is 0 if x does not vary.
func fitLogOdds(right, x []float64) (a, b float64) {
	mean, spread := stat.PopMeanStdDev(x, nil)
	if !(spread > 0) { // or there are none
		return 0, 0
	}
	for range 50 {
		g0, g1, h00, h01, h11 := -1e-3*a, -1e-3*b, 1e-3, 0.0, 1e-3 // a small ridge: all may be certain
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
