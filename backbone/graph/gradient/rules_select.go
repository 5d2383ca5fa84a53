package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// cut is the range that a Slice node selects along one axis.
type cut struct{ axis, start, end, step int64 }

// takesAll reports whether the range is the whole axis, whatever its size.
func (s cut) takesAll() bool { return s.start == 0 && s.end >= math.MaxInt32 && s.step == 1 }

// readCuts reads the ranges of a Slice node. They are attributes before operator set 10, and inputs since.
func (c *call) readCuts(rank int) ([]cut, error) {
	var lists [4][]int64
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		var err error
		if lists[i], err = c.readIntList(1+i, name); err != nil {
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
			return nil, fmt.Errorf("axis %d, step %d: expected rank %d, step not 0", axes[i], steps[i], rank)
		}
		list[i] = cut{a, starts[i], ends[i], steps[i]}
	}
	return list, nil
}

// deriveSlice puts the gradient back at the selected places, with zeros elsewhere.
func deriveSlice(c *call) error {
	shape := c.forwardShape(c.inputName(0))
	if shape == nil {
		return fmt.Errorf("%q: %w", c.inputName(0), errRank)
	}
	cuts, err := c.readCuts(len(shape))
	if err != nil {
		return err
	}
	grad := c.grad[0]
	pads := make([]int64, 2*len(shape))
	for _, s := range cuts {
		if s.takesAll() {
			continue
		}
		size := shape[s.axis]
		if !size.Known() {
			return fmt.Errorf("axis %d of %q: found shape %v, expected a known size", s.axis, c.inputName(0), shape)
		}
		places := s.cutPlaces(size.Size)
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
		grad = c.addOp("Pad", []string{grad, c.constInts(pads...)})
	}
	c.giveGrad(0, grad)
	return nil
}

// cutPlaces returns the indices selected along an axis of size n. Ends beyond the axis are clipped.
func (s cut) cutPlaces(n int64) (places []int64) {
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

// putBack spreads a gradient over n places along an axis. The gradient is extended by a zero, and each place gathers
// its part of the gradient, or the zero. The places must differ.
func (c *call) putBack(grad string, axis, n int64, places []int64) string {
	from := slices.Repeat([]int64{int64(len(places))}, int(n))
	for i, p := range places {
		from[p] = int64(i)
	}
	rank := len(c.forwardShape(c.inputName(0)))
	pads := make([]int64, 2*rank)
	pads[rank+int(axis)] = 1
	return c.addOp("Gather", []string{c.addOp("Pad", []string{grad, c.constInts(pads...)}), c.constInts(from...)},
		graph.Int("axis", axis))
}

// deriveGather sums the gradients of all outputs that were read from the same place.
func deriveGather(c *call) error {
	x, at := c.inputName(0), c.inputName(1)
	axis, shape, err := c.readAxis(x, 0)
	if err != nil {
		return err
	}
	rank, n := len(c.forwardShape(at)), shape[axis]
	if c.forwardShape(at) == nil {
		return fmt.Errorf("shape of %q: found an unknown rank, expected a known one", at)
	}
	places, known := c.knownInts(at)
	places = slices.Clone(places)
	if known && rank <= 1 && n.Known() && areDistinct(places, n.Size) {
		grad := c.grad[0]
		if rank == 0 {
			grad = c.addOp("Unsqueeze", []string{grad, c.constInts(axis)})
		}
		if len(places) == 1 { // usually the class token
			pads := make([]int64, 2*len(shape))
			pads[axis], pads[int64(len(shape))+axis] = places[0], n.Size-1-places[0]
			c.giveGrad(0, c.addOp("Pad", []string{grad, c.constInts(pads...)}))
			return nil
		}
		c.giveGrad(0, c.putBack(grad, axis, n.Size, places))
		return nil
	}
	c.giveGrad(0, c.scatterGrad(axis, shape, rank))
	return nil
}

// areDistinct maps negative places to 0..n-1, in place, and reports whether all places differ.
func areDistinct(places []int64, n int64) bool {
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

// scatterGrad adds up the gradient of a Gather at the places that the Gather read. It merges the axes of the indices
// into one and uses ScatterElements, because that adds in a fixed order, unlike ScatterND.
func (c *call) scatterGrad(axis int64, shape graph.Shape, rank int) string {
	x := c.inputName(0)
	whole := c.addForward("Shape", []string{x})
	if to, ok := fixedShape(shape); ok && !slices.Contains(to, -1) {
		whole = c.constInts(to...)
	}
	parts := []string{}
	if axis > 0 {
		parts = append(parts, c.addOp("Slice", []string{whole, c.constInts(0), c.constInts(axis)}))
	}
	parts = append(parts, c.constInts(-1))
	if int(axis)+1 < len(shape) {
		parts = append(parts, c.addOp("Slice", []string{whole, c.constInts(axis + 1), c.constInts(math.MaxInt64)}))
	}
	rows := c.addOp("Reshape", []string{c.grad[0], c.addOp("Concat", parts, graph.Int("axis", 0))})
	column := slices.Repeat([]int64{1}, len(shape))
	column[axis] = -1
	at := c.addOp("Reshape", []string{c.addOp("Cast", []string{c.inputName(1)}, graph.Int("to", int64(graph.Int64))),
		c.constInts(column...)})
	at = c.addOp("Expand", []string{at, c.addOp("Shape", []string{rows})})
	zeros := c.addOp("Expand", []string{c.constScalar(x, 0), whole})
	return c.addOp("ScatterElements", []string{zeros, at, rows}, graph.Int("axis", axis), graph.String("reduction",
		"add"))
}
