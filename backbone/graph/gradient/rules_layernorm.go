package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// normalised differentiates x̂ = (x-mean)·r, r = 1/√(var+ε), where mean and variance are over axes with n
// elements:
//
//	∂L/∂x = r·(∂L/∂x̂ - mean(∂L/∂x̂) - x̂·mean(∂L/∂x̂·x̂))
func (c *call) normalised(grad, unit, r string, axes []int64) string {
	rest := c.plus(c.mean(grad, axes), c.mul(unit, c.mean(c.mul(grad, unit), axes)))
	return c.mul(r, c.minus(grad, rest))
}

// mean averages over axes, which are kept with size 1.
func (c *call) mean(t string, axes []int64) string {
	return c.op("ReduceMean", []string{t}, graph.Ints("axes", axes...), graph.Int("keepdims", 1))
}

// layerNorm: y = scale·x̂ + bias, over all axes from one axis on. Mean and 1/√(var+ε) are saved in the forward
// pass.
func layerNorm(c *call) error {
	x, dy := c.in(0), c.grad[0]
	if slices.ContainsFunc(c.grad[1:], func(g string) bool { return g != "" }) {
		return fmt.Errorf("its mean or deviation is used, expected only its first output")
	}
	axis, shape, err := c.axis(x, -1)
	if err != nil {
		return err
	}
	if last := int64(len(shape) - 1); c.rows(x) && axis == last && len(c.shape(c.in(1))) == 1 && c.in(2) != "" {
		grads := c.fused("LayerNormGrad", []string{dy, x, c.output(1), c.output(2), c.in(1)},
			[]bool{c.wants(0), c.wants(1), c.wants(2)}, nil)
		for i, grad := range grads {
			c.give(i, grad)
		}
		return nil
	}
	if err := c.pass(2, func() string { return dy }); err != nil {
		return err
	}
	if !c.wants(0) && !c.wants(1) {
		return nil
	}
	kept := func(i int) string {
		if t := c.output(i); c.dtype(t) != c.dtype(x) {
			return c.castLike(t, x) // float64: the operator's statistics are float32
		}
		return c.output(i)
	}
	mean, r := kept(1), kept(2)
	unit := c.mul(c.minus(x, mean), r)
	if err := c.pass(1, func() string { return c.mul(dy, unit) }); err != nil {
		return err
	}
	if c.wants(0) {
		c.give(0, c.normalised(c.mul(dy, c.in(1)), unit, r, all(len(shape))[axis:]))
	}
	return nil
}

// instanceNorm is layerNorm over the places of each channel of each image, with a scale and bias per channel.
// Its statistics are computed again, because the operator does not output them.
func instanceNorm(c *call) error {
	x, dy := c.in(0), c.grad[0]
	shape := c.shape(x)
	if len(shape) < 3 {
		return fmt.Errorf("shape of %q: found %v, expected [N,C,…]", x, shape)
	}
	axes, column := all(len(shape))[2:], append([]int64{-1}, slices.Repeat([]int64{1}, len(shape)-2)...)
	sum := func(t string) string { return c.overPlaces(t, len(shape)) }
	if c.wants(2) {
		c.give(2, sum(dy))
	}
	if !c.wants(0) && !c.wants(1) {
		return nil
	}
	with := map[string]any{"mean": func(t string) string { return c.mean(t, axes) }}
	with["centred"] = c.formula("x - mean(x)", with)
	r := c.formula("Reciprocal(Sqrt(mean(centred*centred) + epsilon))", with)
	unit := c.mul(with["centred"].(string), r)
	if c.wants(1) {
		c.give(1, sum(c.mul(dy, unit)))
	}
	if c.wants(0) {
		scale := c.op("Reshape", []string{c.in(1), c.ints(column...)})
		c.give(0, c.normalised(c.mul(dy, scale), unit, r, axes))
	}
	return nil
}

// lpNorm: y = x/‖x‖ along an axis: ∂L/∂x = (∂L/∂y - y·Σ ∂L/∂y·y)/‖x‖, and 0 where ‖x‖ is 0 (y is then also 0).
func lpNorm(c *call) error {
	if p := c.Int("p", 2); p != 2 {
		return fmt.Errorf("found p = %d, expected 2", p)
	}
	axis, _, err := c.axis(c.in(0), -1)
	if err != nil {
		return err
	}
	norm := c.op("ReduceL2", c.Inputs, graph.Ints("axes", axis), graph.Int("keepdims", 1))
	c.give(0, c.formula("Where(norm > 0, (dy - y*total(dy*y))/norm, 0)", map[string]any{"norm": norm,
		"total": func(t string) string { return c.total(t, []int64{axis}) }}))
	return nil
}
