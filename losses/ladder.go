package losses

// ladder is a sorted list of numbers that counts how many of them are ≤ g: in O(1) for evenly spread numbers,
// by a grid of cells of equal width, and in O(log n) at worst.
type ladder struct {
	x      []float64
	starts []int32 // of every cell; empty if x is short enough for a linear scan
	scale  float64 // cells per unit
}

// walked is the greatest length that is scanned linearly.
const walked = 8

// buildLadder keeps x, which must be sorted in rising order.
func (l *ladder) buildLadder(x []float64) {
	l.x, l.starts = x, l.starts[:0]
	n := len(x)
	if n <= walked || !(x[n-1] > x[0]) {
		return
	}
	cells := n
	l.starts = growSlice(l.starts, cells+1)
	l.scale = float64(cells) / (x[n-1] - x[0])
	clear(l.starts)
	for _, v := range x {
		l.starts[l.ladderCell(v)+1]++
	}
	for k := range cells {
		l.starts[k+1] += l.starts[k]
	}
}

// ladderCell returns the cell of g; it never decreases as g grows.
func (l *ladder) ladderCell(g float64) int { return min(int((g-l.x[0])*l.scale), len(l.starts)-2) }

// upTo returns how many numbers are ≤ g.
func (l *ladder) upTo(g float64) int {
	n := len(l.x)
	if len(l.starts) == 0 && n <= walked {
		count := 0
		for _, v := range l.x { // without an unpredictable branch
			if v <= g {
				count++
			}
		}
		return count
	}
	if g >= l.x[n-1] {
		return n
	}
	if g < l.x[0] {
		return 0
	}
	from, to := 0, n
	if len(l.starts) > 0 {
		k := l.ladderCell(g)
		from, to = int(l.starts[k]), int(l.starts[k+1])
	}
	for to-from > walked {
		if half := (from + to) / 2; l.x[half] <= g {
			from = half + 1
		} else {
			to = half
		}
	}
	for from < to && l.x[from] <= g {
		from++
	}
	return from
}
