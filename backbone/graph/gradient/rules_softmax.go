package gradient

import "winnow/backbone/graph"

// softmaxAxes returns the axes that a softmax sums over: from operator set 13 on the given axis, by default the last;
// before that all axes from the given axis on, by default the second.
func (c *call) softmaxAxes() ([]int64, error) {
	rank := int64(len(c.forwardShape(c.inputName(0))))
	if rank == 0 {
		return nil, errRank
	}
	old := c.r.f.opsetVersion() < 13
	axis := c.Int("axis", -1)
	if old {
		axis = c.Int("axis", 1)
	}
	if axis < 0 {
		axis += rank
	}
	axes := []int64{axis}
	for a := axis + 1; old && a < rank; a++ {
		axes = append(axes, a)
	}
	return axes, nil
}

// emitTotal sums over axes, which are kept with size 1.
func (c *call) emitTotal(t string, axes []int64) string {
	return c.addOp("ReduceSum", []string{t, c.constInts(axes...)}, graph.Int("keepdims", 1))
}

// softmaxRule returns the rule of a softmax. In its formula, total sums over the softmax's axes.
func softmaxRule(formula string) rule {
	return func(c *call) error {
		axes, err := c.softmaxAxes()
		if err != nil {
			return err
		}
		c.giveGrad(0, c.addFormula(formula, map[string]any{"total": func(t string) string {
			return c.emitTotal(t,
				axes)
		}}))
		return nil
	}
}

// deriveSoftmax: for y_i = e^x_i/Σe^x_j, ∂L/∂x = y·(∂L/∂y - Σ ∂L/∂y·y).
func deriveSoftmax(c *call) error {
	y := c.Outputs[0]
	if axes, err := c.softmaxAxes(); err == nil && c.rows(y) && len(axes) == 1 &&
		axes[0] == int64(len(c.forwardShape(y))-1) {
		c.giveGrad(0, c.fused("SoftmaxGrad", []string{c.grad[0], y}, []bool{true}, nil)[0])
		return nil
	}
	return softmaxRule("p := dy*y; p - y*total(p)")(c)
}
