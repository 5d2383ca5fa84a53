package filters

import (
	"math"
	"slices"

	"winnow/features"
)

// Quantile drops the share Rate of the rows that can be judged, by a threshold averaged over the last Size
// batches. It is PRISM's sTRM on log odds (or similarities), which do not pile up at the ends of a range as
// probabilities do; with Size 1 it is TRM.
//
//	h = Rate·n + ½ of the n rows judged,  Q = s_⌊h⌋ + (h-⌊h⌋)(s_⌊h⌋₊₁ - s_⌊h⌋) of their ascending scores s
//	threshold = median of the last Size values of Q,  keep iff score > threshold
//
// The median is above the Q of half of the batches and below that of the other half on every scale. A mean
// follows the longer tail: for probabilities it is too high and drops more, for log odds it is too low and
// drops less.
//
// The score [Unjudged] marks a row about which nothing is known, such as the first rows of a class. It is kept
// and counts neither in n nor in Q, so that the others are not dropped in its place. The threshold below which
// the share of the next batch is expected lies between two scores, half a rank up; that of eq. 15 is rounded
// down to whole rows. A batch with h < 1 adds nothing to the window. If no judged row is above the threshold,
// the ⌊h⌋ lowest ranks, but never all, are dropped instead and the window shrinks to its last value.
type Quantile struct {
	Rate float64 // share to drop, an estimate of the noise rate, in [0, 1)
	Size int     // batches averaged; 0: 1

	recent
}

// Unjudged is the score that [Quantile] receives for a row about which nothing is known: P = 1.
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
