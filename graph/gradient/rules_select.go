package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/graph"
)

// slice puts the gradient back to its places, with zeros around and in between.
func slice(c *call) error {
	x := c.in(0)
	shape := c.shape(x)
	if shape == nil {
		return fmt.Errorf("shape of %q: found ?, expected a known rank", x)
	}
	starts, err := c.list(1, "starts")
	if err != nil {
		return err
	}
	ends, err := c.list(2, "ends")
	if err != nil {
		return err
	}
	axes, err := c.axesList(3, "axes", len(shape))
	if err != nil {
		return err
	}
	steps, err := c.list(4, "")
	if err != nil {
		return err
	}
	if c.in(3) == "" && c.Ints("axes") == nil {
		axes = axes[:min(len(axes), len(starts))]
	}
	if len(starts) != len(axes) || len(ends) != len(axes) || steps != nil && len(steps) != len(axes) {
		return fmt.Errorf("found %d starts, %d ends, %d axes, %d steps, expected as many of each", len(starts), len(ends), len(axes), len(steps))
	}
	grad := c.grad[0]
	pads := make([]int64, 2*len(shape))
	for i, a := range axes {
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		if starts[i] == 0 && ends[i] >= math.MaxInt32 && step == 1 {
			continue // all of it, however much that is
		}
		if !shape[a].Known() {
			return fmt.Errorf("axis %d of %q: found shape %v, expected a known size", a, x, shape)
		}
		places := picked(shape[a].Size, starts[i], ends[i], step)
		if step == 1 {
			if len(places) > 0 {
				pads[a] = places[0]
			}
			pads[len(shape)+int(a)] = shape[a].Size - pads[a] - int64(len(places))
			continue
		}
		grad = c.putBack(grad, a, shape[a].Size, places)
	}
	if slices.ContainsFunc(pads, func(p int64) bool { return p != 0 }) {
		grad = c.op("Pad", []string{grad, c.ints(pads...)})
	}
	c.give(0, grad)
	return nil
}

// picked are the places that a slice takes of n, ends beyond the axis brought onto it.
func picked(n, start, end, step int64) (places []int64) {
	clamp := func(v, low, high int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	if step > 0 {
		end = clamp(end, 0, n)
		for p := clamp(start, 0, n); p < end; p += min(step, n) {
			places = append(places, p)
		}
		return places
	}
	end = clamp(end, -1, n-1)
	for p := clamp(start, 0, n-1); p > end; p += max(step, -n) {
		places = append(places, p)
	}
	return places
}

// putBack spreads a gradient over n places along an axis, zeros where none of its own goes: each place
// gathers its own of the gradient with a zero at its end. The places must differ.
func (c *call) putBack(grad string, axis, n int64, places []int64) string {
	from := make([]int64, n)
	for i := range from {
		from[i] = int64(len(places))
	}
	for i, p := range places {
		from[p] = int64(i)
	}
	rank := len(c.shape(c.in(0)))
	pads := make([]int64, 2*rank)
	pads[rank+int(axis)] = 1
	return c.op("Gather", []string{c.op("Pad", []string{grad, c.ints(pads...)}), c.ints(from...)}, graph.Int("axis", axis))
}

// gather sums the gradient over all places that were filled from the same one.
func gather(c *call) error {
	x, at := c.in(0), c.in(1)
	axis, shape, err := c.axis(x, 0)
	if err != nil {
		return err
	}
	rank, n := len(c.shape(at)), shape[axis]
	if c.shape(at) == nil {
		return fmt.Errorf("shape of %q: found ?, expected a known rank", at)
	}
	places, known := c.known(at)
	places = slices.Clone(places)
	if known && n.Known() && distinct(places, n.Size) {
		grad := c.grad[0]
		if rank == 0 {
			grad = c.op("Unsqueeze", []string{grad, c.ints(axis)})
		}
		if len(places) == 1 { // the class token, for the most part
			pads := make([]int64, 2*len(shape))
			pads[axis], pads[int64(len(shape))+axis] = places[0], n.Size-1-places[0]
			c.give(0, c.op("Pad", []string{grad, c.ints(pads...)}))
			return nil
		}
		if rank <= 1 {
			c.give(0, c.putBack(grad, axis, n.Size, places))
			return nil
		}
	}
	c.give(0, c.scatter(axis, shape, rank))
	return nil
}

// distinct brings negative places into 0..n-1, and reports whether no two are equal.
func distinct(places []int64, n int64) bool {
	seen := map[int64]bool{}
	for i, p := range places {
		if p < 0 {
			p += n
			places[i] = p
		}
		if p < 0 || p >= n || seen[p] {
			return false
		}
		seen[p] = true
	}
	return true
}

// scatter adds up the gradient of a Gather at the places it read. The axes that the places brought become one,
// which ScatterElements then takes apart: it adds in a fixed order, as ScatterND does not.
func (c *call) scatter(axis int64, shape graph.Shape, rank int) string {
	x := c.in(0)
	whole := c.before("Shape", []string{x})
	if to, ok := fixedShape(shape); ok && !slices.Contains(to, -1) {
		whole = c.ints(to...)
	}
	parts := []string{}
	if axis > 0 {
		parts = append(parts, c.op("Slice", []string{whole, c.ints(0), c.ints(axis)}))
	}
	parts = append(parts, c.ints(-1))
	if int(axis)+1 < len(shape) {
		parts = append(parts, c.op("Slice", []string{whole, c.ints(axis + 1), c.ints(math.MaxInt64)}))
	}
	rows := c.op("Reshape", []string{c.grad[0], c.op("Concat", parts, graph.Int("axis", 0))})
	column := make([]int64, len(shape))
	for i := range column {
		column[i] = 1
	}
	column[axis] = -1
	at := c.op("Reshape", []string{c.op("Cast", []string{c.in(1)}, graph.Int("to", int64(graph.Int64))), c.ints(column...)})
	at = c.op("Expand", []string{at, c.op("Shape", []string{rows})})
	zeros := c.op("Expand", []string{c.scalar(x, 0), whole})
	return c.op("ScatterElements", []string{zeros, at, rows}, graph.Int("axis", axis), graph.String("reduction", "add"))
}
