package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// cut is the range that a Slice node takes along one axis.
type cut struct{ axis, start, end, step int64 }

// whole reports whether the cut takes everything, whatever the size of the axis.
func (s cut) whole() bool { return s.start == 0 && s.end >= math.MaxInt32 && s.step == 1 }

// cuts reads a Slice node: attributes before set 10, inputs since.
func (c *call) cuts(rank int) ([]cut, error) {
	var lists [4][]int64
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		var err error
		if lists[i], err = c.list(1+i, name); err != nil {
			return nil, err
		}
	}
	starts, ends, axes, steps := lists[0], lists[1], lists[2], lists[3]
	if axes == nil {
		for a := range starts {
			axes = append(axes, int64(a))
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int64{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		return nil, fmt.Errorf("found %d starts, %d ends, %d axes, %d steps, expected equal numbers", len(starts),
			len(ends), len(axes), len(steps))
	}
	list := make([]cut, len(starts))
	for i, a := range axes {
		if a < 0 {
			a += int64(rank)
		}
		if a < 0 || a >= int64(rank) || steps[i] == 0 {
			return nil, fmt.Errorf("axis %d, step %d: found rank %d", axes[i], steps[i], rank)
		}
		list[i] = cut{a, starts[i], ends[i], steps[i]}
	}
	return list, nil
}

// slice puts the gradient back at its places, with zeros around and between them.
func slice(c *call) error {
	shape := c.shape(c.in(0))
	if shape == nil {
		return fmt.Errorf("%q: %w", c.in(0), errRank)
	}
	cuts, err := c.cuts(len(shape))
	if err != nil {
		return err
	}
	grad := c.grad[0]
	pads := make([]int64, 2*len(shape))
	for _, s := range cuts {
		if s.whole() {
			continue
		}
		size := shape[s.axis]
		if !size.Known() {
			return fmt.Errorf("axis %d of %q: found shape %v, expected a known size", s.axis, c.in(0), shape)
		}
		places := s.of(size.Size)
		if s.step != 1 {
			grad = c.putBack(grad, s.axis, size.Size, places)
			continue
		}
		if len(places) > 0 {
			pads[s.axis] = places[0]
		}
		pads[len(shape)+int(s.axis)] = size.Size - pads[s.axis] - int64(len(places))
	}
	if slices.ContainsFunc(pads, func(p int64) bool { return p != 0 }) {
		grad = c.op("Pad", []string{grad, c.ints(pads...)})
	}
	c.give(0, grad)
	return nil
}

// of returns the places taken from an axis of size n, with ends beyond the axis clipped.
func (s cut) of(n int64) (places []int64) {
	clamp := func(v, low, high int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	if s.step > 0 {
		end := clamp(s.end, 0, n)
		for p := clamp(s.start, 0, n); p < end; p += min(s.step, n) {
			places = append(places, p)
		}
		return places
	}
	end := clamp(s.end, -1, n-1)
	for p := clamp(s.start, 0, n-1); p > end; p += max(s.step, -n) {
		places = append(places, p)
	}
	return places
}

// putBack spreads a gradient over n places along an axis, with zeros at places that get none. Each place
// gathers its own part of the gradient, which has a zero appended. The places must differ.
func (c *call) putBack(grad string, axis, n int64, places []int64) string {
	from := slices.Repeat([]int64{int64(len(places))}, int(n))
	for i, p := range places {
		from[p] = int64(i)
	}
	rank := len(c.shape(c.in(0)))
	pads := make([]int64, 2*rank)
	pads[rank+int(axis)] = 1
	return c.op("Gather", []string{c.op("Pad", []string{grad, c.ints(pads...)}), c.ints(from...)},
		graph.Int("axis", axis))
}

// gather sums the gradient over all outputs that were filled from the same place.
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
	if known && rank <= 1 && n.Known() && distinct(places, n.Size) {
		grad := c.grad[0]
		if rank == 0 {
			grad = c.op("Unsqueeze", []string{grad, c.ints(axis)})
		}
		if len(places) == 1 { // usually the class token
			pads := make([]int64, 2*len(shape))
			pads[axis], pads[int64(len(shape))+axis] = places[0], n.Size-1-places[0]
			c.give(0, c.op("Pad", []string{grad, c.ints(pads...)}))
			return nil
		}
		c.give(0, c.putBack(grad, axis, n.Size, places))
		return nil
	}
	c.give(0, c.scatter(axis, shape, rank))
	return nil
}

// gatherElements adds up the gradient at the places that were read.
func gatherElements(c *call) error {
	axis, _, err := c.axis(c.in(0), 0)
	if err == nil {
		c.give(0, c.op("ScatterElements", []string{c.zeros(c.in(0)), c.in(1), c.grad[0]}, graph.Int("axis", axis),
			graph.String("reduction", "add")))
	}
	return err
}

// distinct normalises negative places to 0..n-1, and reports whether all places differ.
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

// scatter adds up the gradient of a Gather at the places it read. It merges the axes of the indices into one
// and scatters with ScatterElements, which adds in a fixed order; ScatterND does not.
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
	column := slices.Repeat([]int64{1}, len(shape))
	column[axis] = -1
	at := c.op("Reshape", []string{c.op("Cast", []string{c.in(1)}, graph.Int("to", int64(graph.Int64))),
		c.ints(column...)})
	at = c.op("Expand", []string{at, c.op("Shape", []string{rows})})
	zeros := c.op("Expand", []string{c.scalar(x, 0), whole})
	return c.op("ScatterElements", []string{zeros, at, rows}, graph.Int("axis", axis), graph.String("reduction", "add"))
}
