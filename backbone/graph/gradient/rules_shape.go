package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// rearranged is the rule for the same elements in the same order.
func rearranged(c *call) error {
	c.give(0, c.like(c.grad[0], c.in(0)))
	return nil
}

// transpose puts every axis back. Without perm the order is reversed, and so is the gradient's.
func transpose(c *call) error {
	perm := c.Ints("perm")
	if perm == nil {
		c.give(0, c.op("Transpose", []string{c.grad[0]}))
		return nil
	}
	back := make([]int64, len(perm))
	for i, p := range perm {
		if p < 0 || p >= int64(len(perm)) {
			return fmt.Errorf("perm %v is not an order of axes", perm)
		}
		back[p] = int64(i)
	}
	c.give(0, c.op("Transpose", []string{c.grad[0]}, graph.Ints("perm", back...)))
	return nil
}

// expand sums over repeated axes.
func expand(c *call) error { return c.pass(0, func() string { return c.grad[0] }) }

// axis returns the axis attribute, normalised for a shape of known rank, and the shape.
func (c *call) axis(tensor string, otherwise int64) (int64, graph.Shape, error) {
	shape := c.shape(tensor)
	a := c.Int("axis", otherwise)
	if a < 0 {
		a += int64(len(shape))
	}
	if a < 0 || a >= int64(len(shape)) {
		return 0, nil, fmt.Errorf("axis %d: found shape %v of %q", c.Int("axis", otherwise), shape, tensor)
	}
	return a, shape, nil
}

// size returns the size of a forward tensor along an axis, as a list of one.
func (c *call) size(tensor string, axis int64) string {
	if d := c.shape(tensor)[axis]; d.Known() {
		return c.ints(d.Size)
	}
	return c.op("Gather", []string{c.before("Shape", []string{tensor}), c.ints(axis)})
}

// concat splits the gradient into the parts.
func concat(c *call) error {
	axis, _, err := c.axis(c.Outputs[0], 1)
	if err != nil {
		return err
	}
	sizes, ends, known := make([]string, len(c.Inputs)), []int64{0}, true
	wanted, only := 0, 0
	for i, in := range c.Inputs {
		shape := c.shape(in)
		if len(shape) == 0 {
			return fmt.Errorf("%q: %w", in, errRank)
		}
		sizes[i] = c.size(in, axis)
		known = known && shape[axis].Known()
		ends = append(ends, ends[i]+shape[axis].Size)
		if c.wants(i) {
			wanted, only = wanted+1, i
		}
	}
	if wanted == 1 && known {
		c.give(only, c.op("Slice", []string{c.grad[0], c.ints(ends[only]), c.ints(ends[only+1]), c.ints(axis)}))
		return nil
	}
	list := c.op("Concat", sizes, graph.Int("axis", 0))
	for i, part := range c.ops("Split", len(c.Inputs), []string{c.grad[0], list}, graph.Int("axis", axis)) {
		c.give(i, part)
	}
	return nil
}

// split joins the gradients of the parts again; a part without a gradient is zeros.
func split(c *call) error {
	axis, _, err := c.axis(c.in(0), 0)
	if err != nil {
		return err
	}
	parts := make([]string, len(c.Outputs))
	for i, grad := range c.grad {
		parts[i] = grad
		if grad == "" {
			parts[i] = c.zeros(c.output(i))
		}
	}
	c.give(0, c.op("Concat", parts, graph.Int("axis", axis)))
	return nil
}

// zeros returns zeros with the shape of a forward tensor.
func (c *call) zeros(tensor string) string {
	return c.op("Expand", []string{c.scalar(tensor, 0), c.before("Shape", []string{tensor})})
}

// tile splits every axis into repetitions and size, and sums over the repetitions. Axes of one element may be repeated
// any number of times, as one row of tokens is for each image.
func tile(c *call) error {
	repeats, ok := c.known(c.in(1))
	shape, out := c.shape(c.in(0)), c.shape(c.Outputs[0])
	if !ok && len(out) == len(shape) {
		var axes []int64
		single := true
		for i, d := range shape {
			if one(d) {
				axes = append(axes, int64(i))
			} else {
				single = single && d.Known() && equal(d, out[i])
			}
		}
		if single && len(axes) > 0 {
			c.give(0, c.op("ReduceSum", []string{c.grad[0], c.ints(axes...)}, graph.Int("keepdims", 1)))
			return nil
		}
	}
	if !ok || len(repeats) != len(shape) {
		return fmt.Errorf("found repeats %v for shape %v, expected constants, one for each axis", repeats, shape)
	}
	var apart, axes []int64
	free := 0
	for i, d := range shape {
		axes = append(axes, int64(2*i))
		apart = append(apart, repeats[i], d.Size)
		if !d.Known() {
			free++
		}
	}
	if free > 1 {
		return fmt.Errorf("found shape %v, expected at most one free size", shape)
	}
	each := c.op("Reshape", []string{c.grad[0], c.ints(apart...)})
	c.give(0, c.op("ReduceSum", []string{each, c.ints(axes...)}, graph.Int("keepdims", 0)))
	return nil
}

// pad removes the padding; negative padding, which cut, is replaced by zeros.
func pad(c *call) error {
	rank := len(c.shape(c.in(0)))
	before, after, err := c.pads(rank)
	if err != nil {
		return err
	}
	if c.Text("mode", "constant") != "constant" {
		return c.foldPadding(before, after)
	}
	var starts, ends, along []int64
	back := make([]int64, 2*rank)
	for a := range rank {
		back[a], back[rank+a] = -before[a], -after[a]
		if before[a] == 0 && after[a] == 0 {
			continue
		}
		end := int64(math.MaxInt64)
		if after[a] > 0 {
			end = -after[a]
		}
		starts, ends, along = append(starts, before[a]), append(ends, end), append(along, int64(a))
	}
	switch {
	case slices.Max(back) > 0:
		c.give(0, c.op("Pad", []string{c.grad[0], c.ints(back...)}))
	case len(along) == 0:
		c.give(0, c.grad[0])
	default:
		c.give(0, c.op("Slice", []string{c.grad[0], c.ints(starts...), c.ints(ends...), c.ints(along...)}))
	}
	return nil
}

// foldPadding adds up the gradient of a Pad that repeats what it pads, at the places that it repeated: an axis at a
// time, by a product with a matrix of zeros and ones.
func (c *call) foldPadding(before, after []int64) error {
	grad, shape := c.grad[0], c.shape(c.in(0))
	mode := c.Text("mode", "constant")
	for a, d := range shape {
		if before[a] == 0 && after[a] == 0 {
			continue
		}
		if !d.Known() || d.Size == 0 {
			return fmt.Errorf("axis %d of %q: found shape %v, expected a known size", a, c.in(0), shape)
		}
		out := d.Size + before[a] + after[a]
		m := make([]float64, out*d.Size)
		for i := range out {
			at := i - before[a]
			switch mode {
			case "edge":
				at = min(max(at, 0), d.Size-1)
			case "wrap":
				at = (at%d.Size + d.Size) % d.Size
			case "reflect":
				period := max(2*(d.Size-1), 1)
				at = (at%period + period) % period
				at = min(at, period-at)
			default:
				return fmt.Errorf("found mode %q, expected constant, reflect, edge or wrap", mode)
			}
			m[i*d.Size+at] = 1
		}
		matrix := c.numbers(fmt.Sprint("padding", mode, before[a], after[a], d.Size), c.in(0), m, []int64{out, d.Size},
			func(v float64) float64 { return v })
		swap := all(len(shape))
		swap[a], swap[len(swap)-1] = swap[len(swap)-1], swap[a]
		turn := func(t string) string {
			if a == len(shape)-1 {
				return t
			}
			return c.op("Transpose", []string{t}, graph.Ints("perm", swap...))
		}
		grad = turn(c.op("MatMul", []string{turn(grad), matrix}))
	}
	c.give(0, grad)
	return nil
}

// pads returns what a Pad node adds before and after each axis: an attribute before set 11, inputs since.
func (c *call) pads(rank int) (before, after []int64, err error) {
	if c.wants(2) {
		return nil, nil, fmt.Errorf("its value %q depends on a weight, expected a constant", c.in(2))
	}
	if rank == 0 {
		return nil, nil, fmt.Errorf("%q: %w", c.in(0), errRank)
	}
	pads, err := c.list(1, "pads")
	if err != nil {
		return nil, nil, err
	}
	axes, err := c.axes(3, "", rank)
	if err != nil {
		return nil, nil, err
	}
	if axes == nil {
		axes = all(rank)
	}
	if len(pads) != 2*len(axes) {
		return nil, nil, fmt.Errorf("found %d pads for %d axes, expected two for each", len(pads), len(axes))
	}
	before, after = make([]int64, rank), make([]int64, rank)
	for i, a := range axes {
		before[a], after[a] = pads[i], pads[len(axes)+i]
	}
	return before, after, nil
}
