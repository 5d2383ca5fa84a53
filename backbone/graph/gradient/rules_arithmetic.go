package gradient

import (
	"fmt"
	"math"

	"winnow/backbone/graph"
)

func (c *call) emitMul(a, b string) string   { return c.addOp("Mul", []string{a, b}) }
func (c *call) emitDiv(a, b string) string   { return c.addOp("Div", []string{a, b}) }
func (c *call) emitPlus(a, b string) string  { return c.addOp("Add", []string{a, b}) }
func (c *call) emitMinus(a, b string) string { return c.addOp("Sub", []string{a, b}) }
func (c *call) minusOf(a string) string      { return c.addOp("Neg", []string{a}) }

// emitScaled returns a·v.
func (c *call) emitScaled(a string, v float64) string {
	if v == 1 {
		return a
	}
	return c.emitMul(a, c.constScalar(c.Outputs[0], v))
}

// deriveSum passes the gradient to every input, summed over the axes along which the input was repeated.
func deriveSum(c *call) error { return c.toAll(c.grad[0]) }

// deriveMean passes an equal share of the gradient to every input.
func deriveMean(c *call) error { return c.toAll(c.emitScaled(c.grad[0], 1/float64(len(c.Inputs)))) }

func (c *call) toAll(grad string) error {
	for i := range c.Inputs {
		if err := c.giveReduced(i, func() string { return grad }); err != nil {
			return err
		}
	}
	return nil
}

// deriveMul: for y = a·b, ∂L/∂a = ∂L/∂y·b and ∂L/∂b = ∂L/∂y·a.
func deriveMul(c *call) error {
	a, b, dy := c.inputName(0), c.inputName(1), c.grad[0]
	if a == b {
		c.giveGrad(0, c.emitMul(dy, c.emitScaled(a, 2)))
		return nil
	}
	if err := c.giveReduced(0, func() string { return c.emitTimes(dy, b) }); err != nil {
		return err
	}
	return c.giveReduced(1, func() string { return c.emitTimes(dy, a) })
}

// emitTimes returns dy·by. On CUDA it also records a constant factor of one element, so that emitGemm can apply it.
func (c *call) emitTimes(dy, by string) string {
	grad := c.emitMul(dy, by)
	if v, ok := c.constantValue(by); ok && c.r.o.Kernels == ForCUDA {
		c.r.scaled[grad] = scaling{dy, v}
	}
	return grad
}

// scaling describes a gradient as the product of another gradient and a number.
type scaling struct {
	of string
	by float64
}

// derivePow: for y = a^b, ∂L/∂a = ∂L/∂y·b·a^(b-1) and ∂L/∂b = ∂L/∂y·y·ln a. As in torch, ∂L/∂a is 0 at b = 0, and
// ∂L/∂b is 0 at a = 0.
func derivePow(c *call) error {
	a, y, dy := c.inputName(0), c.Outputs[0], c.grad[0]
	if v, ok := c.constantValue(c.inputName(1)); ok {
		return c.giveReduced(0, func() string { return c.emitMul(dy, c.powSlope(a, y, v)) })
	}
	b := c.inputName(1)
	if c.dtypeOf(b) != c.dtypeOf(a) {
		b = c.castLike(b, a)
	}
	with := map[string]any{"b": b}
	if err := c.giveReduced(0, func() string {
		return c.addFormula("dy*Where(Equal(b, 0), 0, b*Pow(a, b - 1))", with)
	}); err != nil {
		return err
	}
	return c.giveReduced(1, func() string { return c.addFormula("dy*Where(Equal(a, 0), 0, y*Log(a))", with) })
}

// powSlope returns the derivative v·a^(v-1) of y = a^v.
func (c *call) powSlope(a, y string, v float64) string {
	switch v {
	case 0:
		return c.emitMul(a, c.constScalar(a, 0))
	case 0.5:
		return c.emitDiv(c.constScalar(a, 0.5), y)
	case 1:
		return c.constScalar(a, 1)
	case 2:
		return c.emitScaled(a, 2)
	}
	return c.emitScaled(c.addOp("Pow", []string{a, c.constScalar(a, v-1)}), v)
}

// constantValue returns the value of a constant if its elements are all equal.
func (c *call) constantValue(name string) (float64, bool) {
	t := c.r.f.consts[name]
	if t == nil {
		return 0, false
	}
	list, err := t.Float64s()
	if err != nil || len(list) == 0 {
		return 0, false
	}
	for _, v := range list {
		if v != list[0] {
			return 0, false
		}
	}
	return list[0], !math.IsNaN(list[0])
}

// deriveLarger passes the gradient of Max or Min to the selected input, and to the second input if both are equal, so
// that Max(x, 0) behaves like Relu.
func deriveLarger(c *call) error {
	switch len(c.Inputs) {
	case 1:
		c.giveGrad(0, c.grad[0])
		return nil
	case 2:
	default:
		return fmt.Errorf("found %d inputs, expected at most 2", len(c.Inputs))
	}
	first := c.addFormula(map[string]string{"Max": "a > b", "Min": "a < b"}[c.Op], nil)
	with := map[string]any{"first": first}
	if err := c.giveReduced(0, func() string { return c.addFormula("Where(first, dy, 0)", with) }); err != nil {
		return err
	}
	return c.giveReduced(1, func() string { return c.addFormula("Where(first, 0, dy)", with) })
}

// deriveWhere passes the gradient to the selected input. The condition is stored as numbers, because the runtime
// cannot output booleans.
func deriveWhere(c *call) error {
	dy, y := c.grad[0], c.Outputs[0]
	chosen := c.addForward("Cast", []string{c.inputName(0)}, graph.Int("to", int64(c.dtypeOf(y))))
	if err := c.giveReduced(1, func() string { return c.emitMul(dy, chosen) }); err != nil {
		return err
	}
	return c.giveReduced(2, func() string { return c.emitMul(dy, c.emitMinus(c.constScalar(y, 1), chosen)) })
}
