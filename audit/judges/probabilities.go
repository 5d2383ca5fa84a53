package judges

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// leastProbable keeps log odds finite for probabilities of 0 or 1.
const leastProbable = 1e-7

// ByProbabilities scores labels by class probabilities p that a model predicted for the images, ideally out of fold:
//
//	order_i = log p_iy - log r_iy,   score_i = p_iy/(p_iy + r_iy),   r_iy = (Σ_{k≠y} p_ik^a)^{1/a}
//
// With a = 1 the order equals the order of self-confidence, which is best for uniform noise and for images of no class.
// With larger a, the strongest rival class dominates, as in the margin p_iy - max_{k≠y} p_ik, which is best if people
// confuse two classes. a is 2 if the probabilities show confusions ([hasConfusions]), else 1. The most probable class
// is suggested. If the model was trained on these labels, the score is not a probability that a label is right.
//
// p is n×C and its rows sum to 1. labels has n entries, 0 ≤ label < C; negative labels are missing and not scored.
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
	// fewSure is the least share of doubtful labels (probability below 1/2) that have a rival above 1/2, for
	// hasConfusions. Measured: 0.36 to 0.80 for human labels, at most 0.12 for images of no class (docs/log, 2026-11).
	fewSure = 0.25
	// repeated is the least ratio, for hasConfusions, of how often two rivals in a class agree to how often they would
	// by chance. Measured: 1.8 to 2.4 for human labels, 1.3 with 30 % uniform noise.
	repeated = 1.5
)

// hasConfusions reports whether classes are confused with each other. A label is doubtful if its probability is below
// 1/2; its rival is another class above 1/2. Two conditions must hold: a share fewSure of the doubtful labels has a
// rival, and two doubtful labels of a class share the rival repeated times as often as by chance:
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

// Doubt returns the share of labels that would be wrong if the given label and the true label of an image were
// independent draws from the image's probabilities: the mean of 1 - q_iy. q_ik ∝ p_ik^b are probabilities with the
// sharpness b that maximises the likelihood of the given labels, which corrects models that are overconfident.
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
