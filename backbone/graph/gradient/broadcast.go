package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// giveReduced adds a gradient of the output's shape to that of the i-th input, after summing it over the axes along
// which the input was repeated.
func (c *call) giveReduced(i int, grad func() string) error {
	if !c.wantsGrad(i) {
		return nil
	}
	g, err := c.undoBroadcast(grad(), c.inputName(i), c.Outputs[0])
	if err == nil {
		c.giveGrad(i, g)
	}
	return err
}

// undoBroadcast sums a gradient with the shape of out over the axes along which in was repeated.
func (c *call) undoBroadcast(grad, in, out string) (string, error) {
	return c.reducedFrom(grad, c.forwardShape(out), in)
}

// reducedFrom sums a gradient with a given shape over the axes along which in was repeated to that shape. These axes
// follow from the sizes. If the sizes are free and may differ, the backward pass determines the axes at run time.
func (c *call) reducedFrom(grad string, from graph.Shape, in string) (string, error) {
	to := c.forwardShape(in)
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
		case isOne(to[i-lead]) && !isOne(d):
			axes, inner = append(axes, int64(i)), true
		case !to[i-lead].Known() && !isEqualSize(to[i-lead], d):
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
		return c.addOp("ReduceSum", []string{grad, c.constInts(axes...)}, graph.Int("keepdims", 0)), nil
	}
	sum := c.addOp("ReduceSum", []string{grad, c.constInts(axes...)}, graph.Int("keepdims", 1))
	if lead > 0 {
		return c.reshapeLike(sum, in), nil
	}
	return sum, nil
}

// reducedLate sums over the axes whose sizes differ at run time.
func (c *call) reducedLate(grad, in string, lead int) string {
	shape := c.addForward("Shape", []string{in})
	target := shape
	if lead > 0 {
		target = c.addOp("Concat", []string{c.constInts(slices.Repeat([]int64{1}, lead)...), shape}, graph.Int("axis",
			0))
	}
	differ := c.addOp("Not", []string{c.addOp("Equal", []string{target, c.addOp("Shape", []string{grad})})})
	axes := c.addOp("Reshape", []string{c.addOp("NonZero", []string{differ}), c.constInts(-1)})
	sum := c.addOp("ReduceSum", []string{grad, axes}, graph.Int("keepdims", 1), graph.Int("noop_with_empty_axes", 1))
	return c.addOp("Reshape", []string{sum, shape})
}

func isOne(d graph.Dim) bool { return d.Known() && d.Size == 1 }

// isEqualSize reports whether two sizes are certainly equal.
func isEqualSize(a, b graph.Dim) bool {
	if a.Known() || b.Known() {
		return a.Size == b.Size
	}
	return a.Name != "" && a.Name == b.Name
}
