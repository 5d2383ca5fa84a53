package filters

import (
	"math"
	"slices"

	"winnow/features"
)

// Quantile drops the share Rate of the rows that can be judged, by a threshold averaged over the last Size batches:
// sTRM of PRISM on log odds (or similarities), which have no ends at which scores pile up; with Size 1, TRM.
//
//	h = Rate·n + ½ of the n rows judged,  Q = s_⌊h⌋ + (h-⌊h⌋)(s_⌊h⌋₊₁ - s_⌊h⌋) of their ascending scores s
//	threshold = median of the last Size values of Q,  keep iff score > threshold
//
// The median is above the Q of half of the batches and below that of the others on whatever scale. A mean follows the
// longer tail: of probabilities upwards, so that more is dropped, of log odds downwards, so that less is.
//
// A score of [Unjudged] is that of a row of which nothing is known, such as the first ones of a class: it is kept, and
// neither n nor Q knows of it, so that the others do not pay its share. Between two scores, half a rank up, lies the
// threshold below which the share is expected of the next batch; that of eq. 15 rounds it down to whole rows. A batch
// with h < 1 adds nothing to the window. If nothing judged is above the threshold, the ⌊h⌋ lowest ranks, but not all, are dropped instead
// and the window shrinks to its last value.
type Quantile struct {
	Rate float64 // share to drop, an estimate of the noise rate, in [0, 1)
	Size int     // batches averaged, ≥ 1

	recent
}

// Unjudged is the score, in the order that [Quantile] is given, of a row of which nothing is known: P = 1.
var Unjudged = math.Inf(1)

// Keep returns the rows kept and moves the window.
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
		c.add(q, c.Size)
	}
	if len(c.window) == 0 {
		return features.AllRows(len(scores))
	}
	c.threshold = median(c.window)
	kept := above(scores, c.threshold)
	if len(kept) > len(scores)-len(judged) || len(judged) == 0 {
		return kept
	}
	if lowest > 0 {
		c.shrink()
	}
	return dropRanks(scores, min(lowest, len(judged)-1))
}

// median returns the middle one of some values, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[n/2] + sorted[(n-1)/2]) / 2
}
