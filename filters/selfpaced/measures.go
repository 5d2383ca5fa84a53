package selfpaced

import "math"

// Spread returns MAW and SDAW: the mean of the classes' mean weights, and its population standard deviation. Classes
// are the labels that occur. Source: BSPML eq. 14.
func Spread(labels []int, w []float64) (mean, deviation float64) {
	means := classMeans(newGrouping(labels).members, w)
	for _, m := range means {
		mean += m
	}
	n := max(1, float64(len(means)))
	mean /= n
	for _, m := range means {
		deviation += (m - mean) * (m - mean)
	}
	return mean, math.Sqrt(deviation / n)
}

// classMeans returns the mean weight of each class, given its members.
func classMeans(members [][]int, w []float64) []float64 {
	means := make([]float64, len(members))
	for c, rows := range members {
		for _, i := range rows {
			means[c] += w[i]
		}
		means[c] /= float64(len(rows))
	}
	return means
}

// hardWeights returns the weights of classic self-paced learning: 1 if the loss, here ξ⁺+ξ⁻, is at most λ,
// otherwise 0. Source: BSPML eq. 2.
func hardWeights(dst []float64, l Losses, lambda float64) {
	for i := range dst {
		dst[i] = 0
		if l.Pos[i]+l.Neg[i] <= lambda {
			dst[i] = 1
		}
	}
}

// hardObjective returns the objective that hardWeights minimises: Σ w(ξ⁺+ξ⁻-λ).
func hardObjective(w []float64, l Losses, lambda float64) float64 {
	sum := 0.0
	for i, v := range w {
		sum += v * (l.Pos[i] + l.Neg[i] - lambda)
	}
	return sum
}

// nextLambda returns the λ of the next round, min(c·λ, λ∞). Source: BSPML algorithm 1, line 5.
func nextLambda(lambda, growth, most float64) float64 { return min(growth*lambda, most) }
