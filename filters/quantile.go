package filters

import (
	"math"
	"slices"

	"winnow/features"
)

// Quantile drops about Rate·n of n scored rows, by a threshold smoothed over the last Size batches. It is PRISM's
// sTRM on log odds (or similarities), which do not accumulate at the ends of a range like probabilities; with Size 1 it
// is TRM.
//
//	h = Rate·n + ½ of the n scored rows,  Q = s_⌊h⌋ + (h-⌊h⌋)(s_⌊h⌋₊₁ - s_⌊h⌋) of their ascending scores s
//	threshold = median of the last Size values of Q,  keep iff score > threshold
//
// The median is above the Q of half of the batches and below the Q of the other half, on every scale. A mean is pulled
// towards the longer tail: for probabilities it is too high and drops more, for log odds it is too low and drops less.
//
// The score [Unjudged] marks a row that cannot be scored, such as the first rows of a class. It is kept and is not
// included in n or Q, so that other rows are not dropped in its place. Q is interpolated half a rank upwards, so that a
// share Rate of the next batch is expected below Q; eq. 15 rounds down to whole rows instead. A batch with h < 1 adds
// no value to the window. If no scored row is above the threshold, the ⌊h⌋ lowest ranks, but never all, are dropped
// instead, and only the last value of the window is kept.
type Quantile struct {
	Rate float64 // share to drop: the estimated noise rate, in [0, 1)
	Size int     // number of batches; 0 means 1

	recent
}

// Unjudged is the order that [Quantile] receives for a row that cannot be scored. It corresponds to P = 1.
var Unjudged = math.Inf(1)

// Keep returns the kept rows and updates the window.
func (c *Quantile) Keep(scores []float64) []int {
	c.threshold = math.Inf(-1)
	judged := make([]float64, 0, len(scores))
	for _, s := range scores {
		if s != Unjudged {
			judged = append(judged, s)
		}
	}
	slices.Sort(judged)
	h := c.Rate*float64(len(judged)) + 0.5
	lowest := int(h)
	if lowest > 0 {
		q := judged[lowest-1]
		if lowest < len(judged) {
			q += (h - float64(lowest)) * (judged[lowest] - q)
		}
		c.addThreshold(q, c.Size)
	}
	if len(c.window) == 0 {
		return features.AllRows(len(scores))
	}
	c.threshold = findMedian(c.window)
	kept := positionsAbove(scores, c.threshold)
	if len(kept) > len(scores)-len(judged) || len(judged) == 0 {
		return kept
	}
	if lowest > 0 {
		c.keepLast()
	}
	return dropRanks(scores, min(lowest, len(judged)-1))
}

// findMedian returns the middle value, or the mean of the two middle values.
func findMedian(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}
