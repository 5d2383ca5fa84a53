package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// deriveNormalised differentiates x̂ = (x-mean)·r with r = 1/√(var+ε). Mean and variance are over the given axes:
//
//	∂L/∂x = r·(∂L/∂x̂ - mean(∂L/∂x̂) - x̂·mean(∂L/∂x̂·x̂))
func (c *call) deriveNormalised(grad, unit, r string, axes []int64) string {
	rest := c.emitPlus(c.emitMean(grad, axes), c.emitMul(unit, c.emitMean(c.emitMul(grad, unit), axes)))
	return c.emitMul(r, c.emitMinus(grad, rest))
}

// emitMean averages over axes, which are kept with size 1.
func (c *call) emitMean(t string, axes []int64) string {
	return c.addOp("ReduceMean", []string{t}, graph.Ints("axes", axes...), graph.Int("keepdims", 1))
}

// layerNorm differentiates y = scale·x̂ + bias, normalised over all axes from one axis on. The forward pass saves mean
// and 1/√(var+ε).
func layerNorm(c *call) error {
	x, dy := c.inputName(0), c.grad[0]
	if slices.ContainsFunc(c.grad[1:], func(g string) bool { return g != "" }) {
		return fmt.Errorf("another node uses its mean or deviation, expected only its first output to be used")
	}
	axis, shape, err := c.readAxis(x, -1)
	if err != nil {
		return err
	}
	if last := int64(len(shape) - 1); c.rows(x) && axis == last && len(c.forwardShape(c.inputName(1))) == 1 &&
		c.inputName(2) != "" {
		grads := c.fused("LayerNormGrad", []string{dy, x, c.outputName(1), c.outputName(2), c.inputName(1)},
			[]bool{c.wantsGrad(0), c.wantsGrad(1), c.wantsGrad(2)}, nil)
		for i, grad := range grads {
			c.giveGrad(i, grad)
		}
		return nil
	}
	if err := c.giveReduced(2, func() string { return dy }); err != nil {
		return err
	}
	if !c.wantsGrad(0) && !c.wantsGrad(1) {
		return nil
	}
	kept := func(i int) string {
		if t := c.outputName(i); c.dtypeOf(t) != c.dtypeOf(x) {
			return c.castLike(t, x) // float64: the operator's statistics are float32
		}
		return c.outputName(i)
	}
	mean, r := kept(1), kept(2)
	unit := c.emitMul(c.emitMinus(x, mean), r)
	if err := c.giveReduced(1, func() string { return c.emitMul(dy, unit) }); err != nil {
		return err
	}
	if c.wantsGrad(0) {
		c.giveGrad(0, c.deriveNormalised(c.emitMul(dy, c.inputName(1)), unit, r, allAxes(len(shape))[axis:]))
	}
	return nil
}

// instanceNorm differentiates a normalisation over the places of each channel of each image, with a scale and bias per
// channel. It computes the statistics again, because the operator does not output them.
func instanceNorm(c *call) error {
	x, dy := c.inputName(0), c.grad[0]
	shape := c.forwardShape(x)
	if len(shape) < 3 {
		return fmt.Errorf("shape of %q: found %v, expected [N,C,…]", x, shape)
	}
	axes, column := allAxes(len(shape))[2:], append([]int64{-1}, slices.Repeat([]int64{1}, len(shape)-2)...)
	sum := func(t string) string { return c.overPlaces(t, len(shape)) }
	if c.wantsGrad(2) {
		c.giveGrad(2, sum(dy))
	}
	if !c.wantsGrad(0) && !c.wantsGrad(1) {
		return nil
	}
	with := map[string]any{"mean": func(t string) string { return c.emitMean(t, axes) }}
	with["centred"] = c.addFormula("x - mean(x)", with)
	r := c.addFormula("Reciprocal(Sqrt(mean(centred*centred) + epsilon))", with)
	unit := c.emitMul(with["centred"].(string), r)
	if c.wantsGrad(1) {
		c.giveGrad(1, sum(c.emitMul(dy, unit)))
	}
	if c.wantsGrad(0) {
		scale := c.addOp("Reshape", []string{c.inputName(1), c.constInts(column...)})
		c.giveGrad(0, c.deriveNormalised(c.emitMul(dy, scale), unit, r, axes))
	}
	return nil
}
