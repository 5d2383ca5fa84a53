package pairs

// distanceCells is the number of cells of the distances 0 … 2 of unit vectors, 3·10⁻⁵ each.
const distanceCells = 1 << 16

// histogram counts distances.
type histogram struct {
	of    [distanceCells]int
	total int
}

func (h *histogram) addDistance(d float64) {
	h.of[min(distanceCells-1, int(d*(distanceCells/2)))]++
	h.total++
}

// countBetween returns the count of the distanceCells from ≤ cell < to.
func (h *histogram) countBetween(from, to int) int {
	sum := 0
	for _, n := range h.of[from:to] {
		sum += n
	}
	return sum
}

// findQuantileEdges returns the edges of bins with about equal counts: bin b has the cells edges[b] ≤ cell <
// edges[b+1]. No bin is empty.
func (h *histogram) findQuantileEdges(bins int) []int {
	edges, sum, next := []int{0}, 0, 1 // a bin ends when sum reaches next/bins of the total
	for cell, n := range h.of {
		if sum += n; n > 0 && sum*bins >= next*h.total {
			edges, next = append(edges, cell+1), sum*bins/h.total+1
		}
	}
	if len(edges) > 1 {
		edges[len(edges)-1] = distanceCells
	}
	return edges
}

// distanceAt returns the smallest distance of a cell.
func distanceAt(cell int) float64 { return float64(cell) / (distanceCells / 2) }
