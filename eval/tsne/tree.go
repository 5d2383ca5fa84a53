package tsne

// cell is a node of the quadtree: the points in a box, which may be treated as one point.
type cell struct {
	x, y, mass float64 // centre and number of the points
	width2     float64 // squared longer side of the bounding box; negative for a leaf, always treated as a point
	next       int32   // index of the cell after the subtree; the cell's children start directly after it
}

// tree is a quadtree stored in depth-first order. A box is divided into four at its middle, and each child's box is the
// bounding box of its points, so no cell has a single child and the depth is minimal. Builds reuse the memory.
type tree struct {
	cells []cell
	order []uint32 // points, grouped by cell, for locality when they are visited in this order
	spare []uint32
}

// buildTree builds the tree of the given points.
func (t *tree) buildTree(y []Point) {
	if len(t.order) != len(y) {
		t.order, t.spare = make([]uint32, len(y)), make([]uint32, len(y))
		for i := range t.order {
			t.order[i] = uint32(i)
		}
	}
	t.cells = t.cells[:0]
	t.addCell(y, t.order, t.spare)
}

// addCell appends the cell of the given points and all cells below it.
func (t *tree) addCell(y []Point, at, spare []uint32) {
	first := y[at[0]]
	low, high, sum := first, first, Point{}
	for _, i := range at {
		p := y[i]
		low.X, high.X = min(low.X, p.X), max(high.X, p.X)
		low.Y, high.Y = min(low.Y, p.Y), max(high.Y, p.Y)
		sum.X += p.X
		sum.Y += p.Y
	}
	mass := float64(len(at))
	width := max(high.X-low.X, high.Y-low.Y)
	me := len(t.cells)
	t.cells = append(t.cells, cell{x: sum.X / mass, y: sum.Y / mass, mass: mass, width2: width * width})
	if middle := (Point{(low.X + high.X) / 2, (low.Y + high.Y) / 2}); width > 0 {
		ends := groupQuadrants(y, at, spare, middle)
		from := 0
		for _, end := range ends {
			if end-from == len(at) { // the box is so narrow that its middle rounds to a side
				break
			}
			if end > from {
				t.addCell(y, at[from:end], spare[from:end])
			}
			from = end
		}
	}
	if len(t.cells) == me+1 {
		t.cells[me].width2 = -1
	}
	t.cells[me].next = int32(len(t.cells))
}

// groupQuadrants groups the points by quadrant, keeping their order, and returns where each quadrant ends.
func groupQuadrants(y []Point, at, spare []uint32, middle Point) (ends [4]int) {
	quadrant := func(p Point) int {
		q := 0
		if p.X > middle.X {
			q = 1
		}
		if p.Y > middle.Y {
			q += 2
		}
		return q
	}
	var next [4]int
	for _, i := range at {
		ends[quadrant(y[i])]++
	}
	for q := 1; q < 4; q++ {
		ends[q] += ends[q-1]
		next[q] = ends[q-1]
	}
	for _, i := range at {
		q := quadrant(y[i])
		spare[next[q]] = i
		next[q]++
	}
	copy(at, spare)
	return ends
}

// repelFrom sums over all other points, or over cells that are far enough to be treated as one point:
//
//	z = Σ_j (1+|p-y_j|²)⁻¹,   force = Σ_j (1+|p-y_j|²)⁻²·(p-y_j)
//
// The point itself adds 1 to z and 0 to force.
func (t *tree) repelFrom(p Point, theta2 float64) (force Point, z float64) {
	cells := t.cells
	for at := 0; at < len(cells); {
		c := &cells[at]
		dx, dy := p.X-c.x, p.Y-c.y
		d2 := dx*dx + dy*dy
		if c.width2 >= theta2*d2 {
			at++
			continue
		}
		q := 1 / (1 + d2)
		m := c.mass * q
		z += m
		m *= q
		force.X += m * dx
		force.Y += m * dy
		at = int(c.next)
	}
	return force, z - 1
}
