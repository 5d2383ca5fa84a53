package gradient

import (
	"fmt"
	"math"

	"winnow/backbone/graph"
)

func (c *call) mul(a, b string) string   { return c.op("Mul", []string{a, b}) }
func (c *call) div(a, b string) string   { return c.op("Div", []string{a, b}) }
func (c *call) plus(a, b string) string  { return c.op("Add", []string{a, b}) }
func (c *call) minus(a, b string) string { return c.op("Sub", []string{a, b}) }
func (c *call) minusOf(a string) string  { return c.op("Neg", []string{a}) }

// scaled returns a·v.
func (c *call) scaled(a string, v float64) string {
	if v == 1 {
		return a
	}
	return c.mul(a, c.scalar(c.Outputs[0], v))
}

// sum passes the gradient to every input, summed over repeated axes.
func sum(c *call) error { return c.toAll(c.grad[0]) }

// mean passes an equal share of the gradient to every input.
func mean(c *call) error { return c.toAll(c.scaled(c.grad[0], 1/float64(len(c.Inputs)))) }

func (c *call) toAll(grad string) error {
	for i := range c.Inputs {
		if err := c.pass(i, func() string { return grad }); err != nil {
			return err
		}
	}
	return nil
}

// mul: y = a·b, ∂L/∂a = ∂L/∂y·b and vice versa.
func mul(c *call) error {
	a, b, dy := c.in(0), c.in(1), c.grad[0]
	if a == b {
		c.give(0, c.mul(dy, c.scaled(a, 2)))
		return nil
	}
	if err := c.pass(0, func() string { return c.times(dy, b) }); err != nil {
		return err
	}
	return c.pass(1, func() string { return c.times(dy, a) })
}

// times returns dy·by. Products on CUDA scale by a single constant as they go: see product.
func (c *call) times(dy, by string) string {
	grad := c.mul(dy, by)
	if v, ok := c.constantValue(by); ok && c.r.o.Kernels == ForCUDA {
		c.r.scaled[grad] = scaling{dy, v}
	}
	return grad
}

// scaling says that a gradient is another one times a number.
type scaling struct {
	of string
	by float64
}

// pow: y = a^b, ∂L/∂a = ∂L/∂y·b·a^(b-1), ∂L/∂b = ∂L/∂y·y·ln a. At a = 0 the latter is taken as 0, and the
// former at b = 0, as torch does.
func pow(c *call) error {
	a, y, dy := c.in(0), c.Outputs[0], c.grad[0]
	if v, ok := c.constantValue(c.in(1)); ok {
		return c.pass(0, func() string { return c.mul(dy, c.powSlope(a, y, v)) })
	}
	b := c.in(1)
	if c.dtype(b) != c.dtype(a) {
		b = c.castLike(b, a)
	}
	with := map[string]any{"b": b}
	if err := c.pass(0, func() string {
		return c.formula("dy*Where(Equal(b, 0), 0, b*Pow(a, b - 1))", with)
	}); err != nil {
		return err
	}
	return c.pass(1, func() string { return c.formula("dy*Where(Equal(a, 0), 0, y*Log(a))", with) })
}

// powSlope returns v·a^(v-1), given y = a^v.
func (c *call) powSlope(a, y string, v float64) string {
	switch v {
	case 0:
		return c.mul(a, c.scalar(a, 0))
	case 0.5:
		return c.div(c.scalar(a, 0.5), y)
	case 1:
		return c.scalar(a, 1)
	case 2:
		return c.scaled(a, 2)
	}
	return c.scaled(c.op("Pow", []string{a, c.scalar(a, v-1)}), v)
}

// constantValue returns the value of a constant whose elements are all equal.
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

// larger: the gradient of Max or Min goes to the input that was taken, and to the second if both are equal, so
// that Max(x, 0) behaves like Relu.
func larger(c *call) error {
	switch len(c.Inputs) {
	case 1:
		c.give(0, c.grad[0])
		return nil
	case 2:
	default:
		return fmt.Errorf("found %d inputs, expected at most 2", len(c.Inputs))
	}
	first := c.formula(map[string]string{"Max": "a > b", "Min": "a < b"}[c.Op], nil)
	with := map[string]any{"first": first}
	if err := c.pass(0, func() string { return c.formula("Where(first, dy, 0)", with) }); err != nil {
		return err
	}
	return c.pass(1, func() string { return c.formula("Where(first, 0, dy)", with) })
}

// where: the gradient goes to the selected side. The condition is stored as numbers, because booleans cannot
// leave the runtime.
func where(c *call) error {
	dy, y := c.grad[0], c.Outputs[0]
	chosen := c.before("Cast", []string{c.in(0)}, graph.Int("to", int64(c.dtype(y))))
	if err := c.pass(1, func() string { return c.mul(dy, chosen) }); err != nil {
		return err
	}
	return c.pass(2, func() string { return c.mul(dy, c.minus(c.scalar(y, 1), chosen)) })
}
