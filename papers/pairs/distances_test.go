package pairs

import "testing"

// TestQuantiles: equal distances share a bin.
func TestQuantiles(t *testing.T) {
	var h histogram
	for range 90 {
		h.addDistance(1)
	}
	for range 10 {
		h.addDistance(2)
	}
	if edges := h.findQuantileEdges(SkewBins); len(edges) != 3 || h.countBetween(edges[0], edges[1]) != 90 ||
		edges[2] != distanceCells {
		t.Errorf("90 and 10 equal distances: edges %v", edges)
	}
}
