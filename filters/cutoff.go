package filters

import (
	"cmp"
	"math"
	"slices"

	"winnow/features"
)

// Fixed keeps a row if its score is above M. A fixed bar is meaningful for vMF-Sim only: the scores of AvgSim and
// ProxySim lie in a narrow band around 1/C (PRISM, section III-E).
type Fixed struct{ M float64 }

// Keep returns the rows with score > M.
func (c *Fixed) Keep(scores []float64) []int { return positionsAbove(scores, c.M) }

// Threshold returns M.
func (c *Fixed) Threshold() float64 { return c.M }

// Window returns nil: a fixed bar does not depend on earlier batches.
func (c *Fixed) Window() []float64 { return nil }

// SetWindow does nothing.
func (c *Fixed) SetWindow([]float64) {}

// TopR drops about Rate·n rows of a batch of n, those with the lowest scores, by a threshold averaged over the last
// Size batches: sTRM of PRISM (eq. 15) as published, on probabilities. With Size 1 it is TRM. If most probabilities are
// near 0 or 1, a few larger thresholds dominate the mean, so that more rows are dropped. [Quantile] avoids this.
//
//	m = ⌊Rate·n⌋,  Q = m-th smallest score of the batch,  threshold = mean of the last Size values of Q
//	keep iff score > threshold
//
// The current batch's Q is included, as in the authors' code (the paper's sum has one term more than its divisor). If m
// = 0, TopR keeps all rows and leaves the window unchanged. If Q is exactly 1, the batch consists mostly of new
// classes, and Q does not enter the window; neither does NaN. If the window is empty or no score is above the
// threshold, the m lowest ranks are dropped instead; in the latter case, only the last value of the window is kept.
type TopR struct {
	Rate float64 // share to drop: the estimated noise rate, in [0, 1)
	Size int     // τ, number of batches; 0 means 1

	recent
}

// recent holds the thresholds of the last batches.
type recent struct {
	window    []float64 // oldest first
	threshold float64   // from the last Keep
}

// addThreshold appends the threshold of a batch and keeps only the last size values.
func (r *recent) addThreshold(q float64, size int) {
	r.window = append(r.window, q)
	r.window = r.window[max(0, len(r.window)-max(size, 1)):]
}

// keepLast keeps only the last threshold.
func (r *recent) keepLast() {
	r.window = r.window[len(r.window)-1:]
	r.threshold = r.window[0]
}

// Keep returns the kept rows and updates the window.
func (c *TopR) Keep(scores []float64) []int {
	c.threshold = math.Inf(-1)
	lowest := int(c.Rate * float64(len(scores)))
	if lowest == 0 {
		return features.AllRows(len(scores))
	}
	if q := nthSmallest(scores, lowest); q != 1 && !math.IsNaN(q) {
		c.addThreshold(q, c.Size)
	}
	if len(c.window) == 0 {
		return dropRanks(scores, lowest)
	}
	c.threshold = meanThreshold(c.window)
	kept := positionsAbove(scores, c.threshold)
	if len(kept) > 0 {
		return kept
	}
	c.keepLast()
	return dropRanks(scores, lowest)
}

// Threshold returns the bar of the last Keep. If ranks were dropped because no score was above the bar, Threshold is
// the remaining value of the window.
func (r *recent) Threshold() float64 { return r.threshold }

// Window returns a copy of the stored values of Q, oldest first.
func (r *recent) Window() []float64 { return slices.Clone(r.window) }

// SetWindow replaces the stored values of Q.
func (r *recent) SetWindow(window []float64) { r.window = slices.Clone(window) }

// positionsAbove returns the positions of the scores above the bar.
func positionsAbove(scores []float64, bar float64) []int {
	kept := make([]int, 0, len(scores))
	for i, s := range scores {
		if s > bar {
			kept = append(kept, i)
		}
	}
	return kept
}

// nthSmallest returns the m-th smallest score, m ≥ 1.
func nthSmallest(scores []float64, m int) float64 {
	sorted := slices.Clone(scores)
	slices.Sort(sorted)
	return sorted[m-1]
}

// dropRanks returns the positions of all but the m lowest scores; among equal scores, the first are dropped.
func dropRanks(scores []float64, m int) []int {
	order := features.AllRows(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	kept := order[m:]
	slices.Sort(kept)
	return kept
}

func meanThreshold(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
