package losses

import (
	"math"
	"math/rand/v2"
	"sort"
)

// distanceWeighted draws the negatives of an anchor so that all distances are about equally likely. For points spread
// evenly over the sphere in D dimensions, the density of their distance d is q(d), and
//
//	P(n) ∝ 1/q(d_n),  log q(d) = (D-2) log d + (D-3)/2 · log(1 - d²/4),  d_n = max(d_an, near)
//
// P is over the negatives with d_n < far; a negative at d = 2 or d_n = 0 is never drawn. near prevents the nearest
// negatives, which may be noise, from being drawn every time. far excludes negatives that are too far away to have a
// loss: 1.4 as in pytorch-metric-learning; the paper's authors include them (far > 2). An anchor without an eligible
// negative is skipped (pytorch-metric-learning), or draws uniformly from all its negatives (the authors).
//
// In many dimensions the weights are steep: at D = 512 a negative at 1.0 is 10³² times as likely as one at 1.4.
// Untrained or whitened vectors are about √2 apart there, so many anchors draw no negative with far = 1.4.
// Time O(r) per anchor for evenly spread distances, with a logarithm and an exponential for every eligible negative,
// and O(log r) per draw: about 22 ns per column at r = 256, half of it for sorting; the products of 512 dimensions
// take 8 ns. Draws depend on the order of distances, not on the order of the batch.
// Source: Wu et al., "Sampling matters in deep embedding learning", ICCV 2017, section 4; METHODS 6.5.
type distanceWeighted struct {
	dim       float64
	near, far float64
	uniform   bool // without an eligible negative: draw uniformly from all

	band   band
	weight []float64 // weights in the order of band.order
	upTo   []float64 // running sums of weight; empty for uniform draws
	total  float64
}

// beyond is larger than the distance between any two unit vectors.
const beyond = 3.0

// prepareAnchor loads an anchor with label y and its distances delta, and reports whether a negative can be drawn.
func (w *distanceWeighted) prepareAnchor(delta []float64, cols []int, y int) bool {
	w.upTo, w.total = w.upTo[:0], 0
	if w.far > w.near {
		w.band.loadBand(delta, cols, y, 0, min(w.far, beyond))
		w.weighNegatives()
	}
	if w.total > 0 || !w.uniform {
		return w.total > 0
	}
	w.upTo = w.upTo[:0]
	w.band.loadBand(delta, cols, y, 0, beyond)
	return len(w.band.order) > 0
}

// weighNegatives computes w.weight and w.upTo. 1/q(d) = x^-(D-3)/2 / d with x = d²(1 - d²/4) needs only one logarithm.
func (w *distanceWeighted) weighNegatives() {
	n := len(w.band.order)
	w.weight, w.upTo = growSlice(w.weight, n), growSlice(w.upTo, n)
	half, top := (w.dim-3)/2, math.Inf(-1)
	for k, j := range w.band.order {
		d := max(w.band.delta[j], w.near)
		w.weight[k] = math.Inf(-1)
		if x := d * d * (1 - d*d/4); x > 0 {
			w.weight[k] = -half * math.Log(x)
			top = max(top, w.weight[k])
		}
	}
	for k, j := range w.band.order {
		e := 0.0
		if v := w.weight[k]; !math.IsInf(v, -1) {
			e = math.Exp(v-top) / max(w.band.delta[j], w.near)
		}
		w.total += e
		w.weight[k], w.upTo[k] = e, w.total
	}
}

// drawNegative returns the column of a random negative of the anchor that was prepared last.
func (w *distanceWeighted) drawNegative(rng *rand.Rand) int {
	if w.total == 0 {
		return int(w.band.order[rng.IntN(len(w.band.order))])
	}
	u := rng.Float64() * w.total
	k := sort.Search(len(w.upTo)-1, func(k int) bool { return w.upTo[k] > u })
	return int(w.band.order[k])
}
