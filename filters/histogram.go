package filters

import "math"

// Histogram counts scores in bins whose width is a power of two, the smallest for which all scores fit into maxBins
// bins. Bin edges are multiples of the width. The scores of vMF-Sim are spread over [0, 1] and fall into 64 wide bins;
// the scores of AvgSim are close to 1/C and fall into as many narrow bins. The result does not depend on the order of
// the scores. A bin includes its lower edge and excludes its upper edge, except that 1 is in the bin below it. The zero
// value is an empty histogram.
type Histogram struct {
	Exponent int   `json:"exponent"` // bins are 2^Exponent wide
	First    int   `json:"first"`    // number of the first bin: its lower edge divided by the bin width
	Counts   []int `json:"counts"`
}

const (
	maxBins      = 64
	leastScoring = -30 // first exponent: differences of float32 similarities
	mostScoring  = 62
)

// Add counts scores. It ignores scores that are not finite.
func (h *Histogram) Add(scores ...float64) {
	for _, v := range scores {
		if v-v != 0 {
			continue
		}
		if len(h.Counts) == 0 {
			h.Exponent = leastScoring
		}
		at := h.binOfScore(v)
		for !h.fitsBins(at, at) && h.Exponent < mostScoring {
			h.doubleBins()
			at = h.binOfScore(v)
		}
		h.reachBins(at, at)
		h.Counts[at-h.First]++
	}
}

// binOfScore returns the bin of a score, counted from 0.
func (h *Histogram) binOfScore(v float64) int {
	if v == 1 {
		v = math.Nextafter(1, 0)
	}
	const far = 1 << 60
	scale := math.Float64frombits(uint64(1023-h.Exponent) << 52) // 2^-Exponent
	return int(max(-far, min(far, math.Floor(v*scale))))
}

// fitsBins reports whether bins low to high, together with the non-empty bins, fit into maxBins.
func (h *Histogram) fitsBins(low, high int) bool {
	if len(h.Counts) > 0 {
		low, high = min(low, h.First), max(high, h.First+len(h.Counts)-1)
	}
	return high-low < maxBins
}

// reachBins extends the histogram to bins low to high.
func (h *Histogram) reachBins(low, high int) {
	if len(h.Counts) == 0 {
		h.First, h.Counts = low, make([]int, high-low+1)
		return
	}
	first, last := min(low, h.First), max(high, h.First+len(h.Counts)-1)
	if n := last - first + 1; n > len(h.Counts) {
		counts := make([]int, n)
		copy(counts[h.First-first:], h.Counts)
		h.First, h.Counts = first, counts
	}
}

// doubleBins doubles the width of the bins.
func (h *Histogram) doubleBins() {
	h.Exponent++
	if len(h.Counts) == 0 {
		return
	}
	first := floorHalf(h.First)
	counts := make([]int, floorHalf(h.First+len(h.Counts)-1)-first+1)
	for i, n := range h.Counts {
		counts[floorHalf(h.First+i)-first] += n
	}
	h.First, h.Counts = first, counts
}

func floorHalf(i int) int { return i >> 1 }

// Total returns the number of counted scores.
func (h *Histogram) Total() int {
	n := 0
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Edges returns the edges of the bins, one more than there are bins.
func (h *Histogram) Edges() []float64 {
	if len(h.Counts) == 0 {
		return nil
	}
	edges := make([]float64, len(h.Counts)+1)
	for i := range edges {
		edges[i] = math.Ldexp(float64(h.First+i), h.Exponent)
	}
	return edges
}

// AtLeast returns a copy whose bins are at least 2^exponent wide, so that histograms can be compared.
func (h *Histogram) AtLeast(exponent int) Histogram {
	c := Histogram{h.Exponent, h.First, append([]int(nil), h.Counts...)}
	for c.Exponent < exponent {
		c.doubleBins()
	}
	return c
}
