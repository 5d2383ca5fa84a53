package gradient

import "winnow/backbone/graph"

// softmaxAxes returns the axes that a softmax sums over: the named one, by default the last; before set 13 all
// from the named one on, by default the second.
func (c *call) softmaxAxes() ([]int64, error) {
	rank := int64(len(c.shape(c.in(0))))
	if rank == 0 {
		return nil, errRank
	}
	old := c.r.f.opset() < 13
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

// total sums over axes, which are kept with size 1.
func (c *call) total(t string, axes []int64) string {
	return c.op("ReduceSum", []string{t, c.ints(axes...)}, graph.Int("keepdims", 1))
}

// along returns the rule of a softmax; in its formula total sums over its axes.
func along(formula string) rule {
	return func(c *call) error {
		axes, err := c.softmaxAxes()
		if err != nil {
			return err
		}
		c.give(0, c.formula(formula, map[string]any{"total": func(t string) string { return c.total(t, axes) }}))
		return nil
	}
}

// softmax: y_i = e^x_i/Σe^x_j, ∂L/∂x = y·(∂L/∂y - Σ ∂L/∂y·y).
func softmax(c *call) error {
	y := c.Outputs[0]
	if axes, err := c.softmaxAxes(); err == nil && c.rows(y) && len(axes) == 1 && axes[0] == int64(len(c.shape(y))-1) {
		c.give(0, c.fused("SoftmaxGrad", []string{c.grad[0], y}, []bool{true}, nil)[0])
		return nil
	}
	return along("p := dy*y; p - y*total(p)")(c)
}
