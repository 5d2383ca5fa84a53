package losses

import "math"

// msMiner selects the informative pairs of an anchor: negatives whose similarity exceeds that of the least similar
// positive minus ε, and positives whose similarity is below that of the most similar negative plus ε.
//
//	N' = {n ∈ N : s_n > min_P s - ε},   P' = {p ∈ P : s_p < max_N s + ε}
//
// It selects no pair of an anchor without positives or without negatives. If it is switched off, it selects all pairs.
// The selection is a constant in every gradient.
// Source: Wang et al., "Multi-similarity loss with general pair weighting", CVPR 2019; BSPML (002), eq. 4-5. METHODS
// 6.1.
type msMiner struct {
	off     bool
	epsilon float64
}

// window holds the limits for an anchor's pairs: the similarity of its least similar positive and most similar
// negative (+Inf and -Inf if there is none), and the bounds derived from them, which are strict.
type window struct {
	low, high    float64
	below, above float64 // bound for a positive; bound for a negative
}

// limitWindow computes the limits from the similarities of anchor i. absent, unless nil, marks columns to ignore.
func (m msMiner) limitWindow(s []float64, i int, p *pairs, absent []bool) window {
	w := window{low: math.Inf(1), high: math.Inf(-1)}
	y, cols := p.rows[i], p.cols[:len(s)]
	for j, v := range s {
		if absent != nil && absent[j] {
			continue
		}
		if cols[j] != y {
			if v > w.high {
				w.high = v
			}
		} else if v < w.low && p.areApart(i, j) {
			w.low = v
		}
	}
	if m.off {
		w.below, w.above = math.Inf(1), math.Inf(-1)
	} else {
		w.below, w.above = w.high+m.epsilon, w.low-m.epsilon
	}
	return w
}
