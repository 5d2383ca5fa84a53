package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// pass gives a gradient of the output's shape to the i-th input, summed over the axes along which that was
// repeated.
func (c *call) pass(i int, grad func() string) error {
	if !c.wants(i) {
		return nil
	}
	g, err := c.reduced(grad(), c.in(i), c.Outputs[0])
	if err == nil {
		c.give(i, g)
	}
	return err
}

// reduced undoes broadcasting: it sums a gradient with the shape of out over the axes along which in was
// repeated.
func (c *call) reduced(grad, in, out string) (string, error) {
	return c.reducedFrom(grad, c.shape(out), in)
}

// reducedFrom sums a gradient with a given shape over the axes along which in was repeated to that shape.
// Whether an axis was repeated follows from the sizes. If these are free and may differ, the backward pass
// decides at run time.
func (c *call) reducedFrom(grad string, from graph.Shape, in string) (string, error) {
	to := c.shape(in)
	if from == nil || to == nil || len(from) < len(to) {
		return "", fmt.Errorf("shape of %q: found %v, broadcast to %v, expected both to be known", in, to, from)
	}
	lead := len(from) - len(to)
	var axes []int64
	inner := false
	for i, d := range from {
		switch {
		case i < lead:
			axes = append(axes, int64(i))
		case one(to[i-lead]) && !one(d):
			axes, inner = append(axes, int64(i)), true
		case !to[i-lead].Known() && !equal(to[i-lead], d):
			return c.reducedLate(grad, in, lead), nil
		}
	}
	if len(axes) == 0 {
		return grad, nil
	}
	if !inner {
		if c.r.o.Kernels == ForCUDA && len(to) == 1 && len(from) <= 4 && c.isFloat32(in) {
			return c.fused("SumRows", []string{grad}, []bool{true}, nil)[0], nil
		}
		return c.op("ReduceSum", []string{grad, c.ints(axes...)}, graph.Int("keepdims", 0)), nil
	}
	sum := c.op("ReduceSum", []string{grad, c.ints(axes...)}, graph.Int("keepdims", 1))
	if lead > 0 {
		return c.like(sum, in), nil
	}
	return sum, nil
}

// reducedLate sums over the axes that turn out to differ at run time.
func (c *call) reducedLate(grad, in string, lead int) string {
	shape := c.before("Shape", []string{in})
	target := shape
	if lead > 0 {
		target = c.op("Concat", []string{c.ints(slices.Repeat([]int64{1}, lead)...), shape}, graph.Int("axis", 0))
	}
	differ := c.op("Not", []string{c.op("Equal", []string{target, c.op("Shape", []string{grad})})})
	axes := c.op("Reshape", []string{c.op("NonZero", []string{differ}), c.ints(-1)})
	sum := c.op("ReduceSum", []string{grad, axes}, graph.Int("keepdims", 1), graph.Int("noop_with_empty_axes", 1))
	return c.op("Reshape", []string{sum, shape})
}

func one(d graph.Dim) bool { return d.Known() && d.Size == 1 }

// equal reports whether two sizes are certainly equal.
func equal(a, b graph.Dim) bool {
	if a.Known() || b.Known() {
		return a.Size == b.Size
	}
	return a.Name != "" && a.Name == b.Name
}
