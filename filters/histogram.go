package filters

import "math"

// Histogram counts scores in bins whose edges are multiples of a power of two, the smallest with which all that was
// counted fits into maxBins: scores of vMF-Sim spread over [0, 1] fall into 64 bins, those of AvgSim around 1/C into
// as many narrow ones. What it comes to does not depend on the order of the scores. A bin holds its lower edge and
// not its upper one, but 1 belongs to the bin below it. The zero value is empty and ready.
type Histogram struct {
	Exponent int   `json:"exponent"` // a bin is 2^Exponent wide
	First    int   `json:"first"`    // lower edge of the first bin, in bins from 0
	Counts   []int `json:"counts"`
}

const (
	maxBins      = 64
	leastScoring = -30 // exponent to begin with: differences of float32 similarities
	mostScoring  = 62
)

// Add counts scores; those that are not finite are left out.
func (h *Histogram) Add(scores ...float64) {
	for _, v := range scores {
		if v-v != 0 {
			continue
		}
		if len(h.Counts) == 0 {
			h.Exponent = leastScoring
		}
		at := h.bin(v)
		for !h.fits(at, at) && h.Exponent < mostScoring {
			h.double()
			at = h.bin(v)
		}
		h.reach(at, at)
		h.Counts[at-h.First]++
	}
}

// bin returns the bin of a score, counted from 0.
func (h *Histogram) bin(v float64) int {
	if v == 1 {
		v = math.Nextafter(1, 0)
	}
	const far = 1 << 60
	scale := math.Float64frombits(uint64(1023-h.Exponent) << 52) // 2^-Exponent
	return int(max(-far, min(far, math.Floor(v*scale))))
}

// fits reports whether bins from low to high lie within maxBins together with those that count.
func (h *Histogram) fits(low, high int) bool {
	if len(h.Counts) > 0 {
		low, high = min(low, h.First), max(high, h.First+len(h.Counts)-1)
	}
	return high-low < maxBins
}

// reach makes room for bins from low to high.
func (h *Histogram) reach(low, high int) {
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

// double makes the bins twice as wide.
func (h *Histogram) double() {
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

// Total returns the number of scores counted.
func (h *Histogram) Total() int {
	n := 0
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Edges returns the bins' edges, one more than counts.
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

// AtLeast returns a copy whose bins are 2^exponent wide or wider, so that histograms can be compared.
func (h *Histogram) AtLeast(exponent int) Histogram {
	c := Histogram{h.Exponent, h.First, append([]int(nil), h.Counts...)}
	for c.Exponent < exponent {
		c.double()
	}
	return c
}
