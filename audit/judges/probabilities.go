package judges

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// leastProbable keeps log odds finite for probabilities of 0 or 1.
const leastProbable = 1e-7

// ByProbabilities judges labels by class probabilities p that some model gave for the images, best out of fold:
//
//	order_i = log p_iy - log r_iy,   score_i = p_iy/(p_iy + r_iy),   r_iy = (Σ_{k≠y} p_ik²)^½
//
// the log odds of the label against the length of the vector of its rivals. Their sum instead would be
// self-confidence p_iy, best if mistakes go to all classes alike; their maximum would be the margin p_iy -
// max_{k≠y} p_ik, best if people confuse two classes. The length was close to the better of both in all
// measurements (docs/log). The most probable class is suggested. If the model has learnt from these labels, the
// score is no probability that a label is right.
//
// Shapes: p n×C, rows that sum to 1; labels n, 0 ≤ label < C, or negative for none, which are not judged.
func ByProbabilities(p blas32.General, labels []int) Opinion {
	o := Undecided(labels)
	for i, y := range labels {
		if y < 0 {
			continue
		}
		row := p.Data[i*p.Stride:][:p.Cols]
		best := y
		var squares float64
		for k, v := range row {
			squares += float64(v) * float64(v)
			if v > row[best] {
				best = k
			}
		}
		odds := func(k int) (right, rivals float64) {
			v := float64(row[k])
			return max(v, leastProbable), max(math.Sqrt(max(squares-v*v, 0)), leastProbable)
		}
		right, rivals := odds(y)
		o.Order[i], o.Score[i] = math.Log(right/rivals), right/(right+rivals)
		right, rivals = odds(best)
		o.Suggested[i], o.SuggestedScore[i] = best, right/(right+rivals)
	}
	return o
}
