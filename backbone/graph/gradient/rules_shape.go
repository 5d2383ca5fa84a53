package gradient

import (
	"fmt"
	"math"
	"slices"

	"winnow/backbone/graph"
)

// deriveReshape handles operators that keep all elements in the same order.
func deriveReshape(c *call) error {
	c.giveGrad(0, c.reshapeLike(c.grad[0], c.inputName(0)))
	return nil
}

// deriveTranspose applies the inverse order of axes to the gradient. Without perm both orders are reversals.
func deriveTranspose(c *call) error {
	perm := c.Ints("perm")
	if perm == nil {
		c.giveGrad(0, c.addOp("Transpose", []string{c.grad[0]}))
		return nil
	}
	back := make([]int64, len(perm))
	for i, p := range perm {
		if p < 0 || p >= int64(len(perm)) {
			return fmt.Errorf("perm %v is not a permutation of the axes", perm)
		}
		back[p] = int64(i)
	}
	c.giveGrad(0, c.addOp("Transpose", []string{c.grad[0]}, graph.Ints("perm", back...)))
	return nil
}

// deriveExpand sums the gradient over repeated axes.
func deriveExpand(c *call) error { return c.giveReduced(0, func() string { return c.grad[0] }) }

// readAxis returns the axis attribute as a non-negative number, and the shape of the tensor, whose rank must be known.
func (c *call) readAxis(tensor string, otherwise int64) (int64, graph.Shape, error) {
	shape := c.forwardShape(tensor)
	a := c.Int("axis", otherwise)
	if a < 0 {
		a += int64(len(shape))
	}
	if a < 0 || a >= int64(len(shape)) {
		return 0, nil, fmt.Errorf("axis %d: found shape %v of %q", c.Int("axis", otherwise), shape, tensor)
	}
	return a, shape, nil
}

// emitSize returns the size of a forward tensor along an axis, as a list of one element.
func (c *call) emitSize(tensor string, axis int64) string {
	if d := c.forwardShape(tensor)[axis]; d.Known() {
		return c.constInts(d.Size)
	}
	return c.addOp("Gather", []string{c.addForward("Shape", []string{tensor}), c.constInts(axis)})
}

// deriveConcat splits the gradient into the parts that were concatenated.
func deriveConcat(c *call) error {
	axis, _, err := c.readAxis(c.Outputs[0], 1)
	if err != nil {
		return err
	}
	sizes, ends, known := make([]string, len(c.Inputs)), []int64{0}, true
	wanted, only := 0, 0
	for i, in := range c.Inputs {
		shape := c.forwardShape(in)
		if len(shape) == 0 {
			return fmt.Errorf("%q: %w", in, errRank)
		}
		sizes[i] = c.emitSize(in, axis)
		known = known && shape[axis].Known()
		ends = append(ends, ends[i]+shape[axis].Size)
		if c.wantsGrad(i) {
			wanted, only = wanted+1, i
		}
	}
	if wanted == 1 && known {
		c.giveGrad(only, c.addOp("Slice", []string{c.grad[0], c.constInts(ends[only]), c.constInts(ends[only+1]),
			c.constInts(axis)}))
		return nil
	}
	list := c.addOp("Concat", sizes, graph.Int("axis", 0))
	for i, part := range c.addOps("Split", len(c.Inputs), []string{c.grad[0], list}, graph.Int("axis", axis)) {
		c.giveGrad(i, part)
	}
	return nil
}

// deriveSplit concatenates the gradients of the parts; a part without a gradient contributes zeros.
func deriveSplit(c *call) error {
	axis, _, err := c.readAxis(c.inputName(0), 0)
	if err != nil {
		return err
	}
	parts := make([]string, len(c.Outputs))
	for i, grad := range c.grad {
		parts[i] = grad
		if grad == "" {
			parts[i] = c.emitZeros(c.outputName(i))
		}
	}
	c.giveGrad(0, c.addOp("Concat", parts, graph.Int("axis", axis)))
	return nil
}

// emitZeros returns zeros with the shape of a forward tensor.
func (c *call) emitZeros(tensor string) string {
	return c.addOp("Expand", []string{c.constScalar(tensor, 0), c.addForward("Shape", []string{tensor})})
}

// deriveTile splits every axis into repetitions and size, and sums over the repetitions. An axis of one element may be
// repeated any number of times, such as a token that is repeated for each image.
func deriveTile(c *call) error {
	repeats, ok := c.knownInts(c.inputName(1))
	shape, out := c.forwardShape(c.inputName(0)), c.forwardShape(c.Outputs[0])
	if !ok && len(out) == len(shape) {
		var axes []int64
		single := true
		for i, d := range shape {
			if isOne(d) {
				axes = append(axes, int64(i))
			} else {
				single = single && d.Known() && isEqualSize(d, out[i])
			}
		}
		if single && len(axes) > 0 {
			c.giveGrad(0, c.addOp("ReduceSum", []string{c.grad[0], c.constInts(axes...)}, graph.Int("keepdims", 1)))
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
	each := c.addOp("Reshape", []string{c.grad[0], c.constInts(apart...)})
	c.giveGrad(0, c.addOp("ReduceSum", []string{each, c.constInts(axes...)}, graph.Int("keepdims", 0)))
	return nil
}

// derivePad removes the padding. Negative padding removed elements, whose gradient is zero.
func derivePad(c *call) error {
	rank := len(c.forwardShape(c.inputName(0)))
	before, after, err := c.readPads(rank)
	if err != nil {
		return err
	}
	if c.Text("mode", "constant") != "constant" {
		return fmt.Errorf("found mode %q, expected constant", c.Text("mode", "constant"))
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
		c.giveGrad(0, c.addOp("Pad", []string{c.grad[0], c.constInts(back...)}))
	case len(along) == 0:
		c.giveGrad(0, c.grad[0])
	default:
		c.giveGrad(0, c.addOp("Slice", []string{c.grad[0], c.constInts(starts...), c.constInts(ends...),
			c.constInts(along...)}))
	}
	return nil
}

// readPads returns the padding before and after each axis: an attribute before operator set 11, an input since.
func (c *call) readPads(rank int) (before, after []int64, err error) {
	if c.wantsGrad(2) {
		return nil, nil, fmt.Errorf("the fill value %q depends on a weight, expected a constant", c.inputName(2))
	}
	if rank == 0 {
		return nil, nil, fmt.Errorf("%q: %w", c.inputName(0), errRank)
	}
	pads, err := c.readIntList(1, "pads")
	if err != nil {
		return nil, nil, err
	}
	axes, err := c.readAxes(3, "", rank)
	if err != nil {
		return nil, nil, err
	}
	if axes == nil {
		axes = allAxes(rank)
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
