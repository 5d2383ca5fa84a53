package judges

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// leastProbable keeps log odds finite for probabilities of 0 or 1.
const leastProbable = 1e-7

// ByProbabilities judges labels by class probabilities p that some model gave for the images, best out of fold:
//
//	order_i = log p_iy - log r_iy,   score_i = p_iy/(p_iy + r_iy),   r_iy = (Σ_{k≠y} p_ik^a)^{1/a}
//
// With a = 1 the order is that of self-confidence, best if mistakes go to all classes alike or to images of no class;
// the larger a is, the more only the strongest rival counts, as in the margin p_iy - max_{k≠y} p_ik, which is best if
// people confuse two classes. a is 2 if the probabilities show [hasConfusions], else 1. The most probable class is
// suggested. If the model has learnt from these labels, the score is no probability that a label is right.
//
// Shapes: p n×C, rows that sum to 1; labels n, 0 ≤ label < C, or negative for none, which are not judged.
func ByProbabilities(p blas32.General, labels []int) Opinion {
	o, confused := Undecided(labels), hasConfusions(p, labels)
	for i, y := range labels {
		if y < 0 {
			continue
		}
		row := features.Row(p, i)
		best := y
		var sum, squares float64
		for k, v := range row {
			sum += float64(v)
			squares += float64(v) * float64(v)
			if v > row[best] {
				best = k
			}
		}
		odds := func(k int) (right, rivals float64) {
			v := float64(row[k])
			if rivals = sum - v; confused {
				rivals = math.Sqrt(max(squares-v*v, 0))
			}
			return max(v, leastProbable), max(rivals, leastProbable)
		}
		right, rivals := odds(y)
		o.Order[i], o.Score[i] = math.Log(right/rivals), right/(right+rivals)
		right, rivals = odds(best)
		o.Suggested[i], o.SuggestedScore[i] = best, right/(right+rivals)
	}
	return o
}

const (
	// fewSure is the least share of doubtful labels with a probable rival if people confuse classes. Measured: 0.36 to
	// 0.80 for people's labels, at most 0.12 where errors fit no class (docs/log, 2026-11).
	fewSure = 0.25
	// repeated is how many times as often as by chance two such rivals in one class are the same class. Measured: 1.8
	// to 2.4 for people's labels, 1.3 where 30 % go to all classes alike.
	repeated = 1.5
)

// hasConfusions reports whether classes are confused with each other: of the labels with a probability below 1/2, a
// share of fewSure has a rival above 1/2, and two such labels of a class have the same rival repeated times as often
// as by chance:
//
//	Σ_yk n_yk(n_yk - 1) / Σ_y n_y(n_y - 1) ≥ repeated/(C - 1)
func hasConfusions(p blas32.General, labels []int) bool {
	doubtful, sure := 0, 0
	type pair struct{ y, k int }
	pairs, members := map[pair]float64{}, map[int]float64{}
	for i, y := range labels {
		if y < 0 {
			continue
		}
		row := features.Row(p, i)
		if row[y] >= 0.5 {
			continue
		}
		doubtful++
		for k, v := range row {
			if v > 0.5 {
				sure++
				pairs[pair{y, k}]++
				members[y]++
			}
		}
	}
	var same, all float64
	for _, n := range pairs {
		same += n * (n - 1)
	}
	for _, n := range members {
		all += n * (n - 1)
	}
	return float64(sure) >= fewSure*float64(doubtful) && same*float64(p.Cols-1) >= repeated*all && all > 0
}

// Doubt returns how many labels would be wrong if the given and the true label of an image were independent draws
// from its probabilities: the mean of 1 - q_iy. q are the probabilities of p with the sharpness b under which the
// given labels are likeliest, q_ik ∝ p_ik^b: a model that is too sure of itself is not believed.
func Doubt(p blas32.General, labels []int) float64 {
	logs := func(b float64) (likelihood, doubt float64) {
		n := 0.0
		for i, y := range labels {
			if y < 0 {
				continue
			}
			n++
			rivals, own := 0.0, math.Log(math.Max(float64(p.Data[i*p.Stride+y]), leastProbable))
			for k, v := range features.Row(p, i) {
				if k != y {
					rivals += math.Exp(b * (math.Log(math.Max(float64(v), leastProbable)) - own))
				}
			}
			likelihood -= math.Log1p(rivals)
			doubt += rivals / (1 + rivals)
		}
		return likelihood, doubt / math.Max(n, 1)
	}
	most, doubt := math.Inf(-1), 0.0
	for b := 0.25; b < 5; b *= 1.19 { // the likelihood is flat near its maximum
		if v, d := logs(b); v > most {
			most, doubt = v, d
		}
	}
	return doubt
}
