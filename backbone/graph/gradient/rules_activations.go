package gradient

import (
	"errors"
	"math"
)

// choose is Where.
func (c *call) choose(when, yes, no string) string { return c.op("Where", []string{when, yes, no}) }

// above returns t > v.
func (c *call) above(t string, v float64) string {
	return c.op("Greater", []string{t, c.scalar(c.Outputs[0], v)})
}

// below returns t < v.
func (c *call) below(t string, v float64) string {
	return c.op("Less", []string{t, c.scalar(c.Outputs[0], v)})
}

// leakyRelu: slope 1 above 0 and α below. The output has the sign of the input unless α is negative.
func leakyRelu(c *call, x, y, dy string) string {
	alpha := float64(c.Float("alpha", 0.01))
	if alpha >= 0 {
		x = y
	}
	return c.choose(c.above(x, 0), dy, c.scaled(dy, alpha))
}

// elu: slope 1 above 0; below, y = α(e^x-1) has the slope y+α.
func elu(c *call, x, y, dy string) string {
	alpha := float64(c.Float("alpha", 1))
	if alpha >= 0 {
		x = y
	}
	return c.choose(c.above(x, 0), dy, c.mul(dy, c.plus(y, c.scalar(y, alpha))))
}

// prelu: y = x above 0, slope·x below, with a slope that is broadcast to the shape of x.
func prelu(c *call) error {
	x, slope, dy := c.in(0), c.in(1), c.grad[0]
	zero := c.scalar(x, 0)
	if c.wants(0) {
		c.give(0, c.choose(c.above(x, 0), dy, c.mul(dy, slope)))
	}
	return c.pass(1, func() string { return c.mul(dy, c.op("Min", []string{x, zero})) })
}

// clip passes the gradient strictly between the limits, as torch's ReLU6 does; the output shows where that is.
func clip(c *call) error {
	if c.wants(1) || c.wants(2) {
		return errors.New("its limits depend on a weight, expected constants")
	}
	y := c.Outputs[0]
	if b, ok := c.r.limits(c.Node); ok && c.planes(y) {
		c.give(0, c.cut(c.grad[0], y, b))
		return nil
	}
	low, high := c.in(1), c.in(2)
	if c.r.f.opset() < 11 {
		if v := c.Attribute("min"); v != nil {
			low = c.scalar(y, float64(v.Float))
		}
		if v := c.Attribute("max"); v != nil {
			high = c.scalar(y, float64(v.Float))
		}
	}
	inside := ""
	if low != "" {
		inside = c.op("Greater", []string{y, low})
	}
	if high != "" {
		under := c.op("Less", []string{y, high})
		if inside != "" {
			under = c.op("And", []string{inside, under})
		}
		inside = under
	}
	if inside == "" {
		c.give(0, c.grad[0])
		return nil
	}
	c.give(0, c.choose(inside, c.grad[0], c.scalar(y, 0)))
	return nil
}

// hardSigmoid: y = min(1, max(0, αx+β)): slope α strictly between the limits.
func hardSigmoid(c *call, _, y, dy string) string {
	inside := c.op("And", []string{c.above(y, 0), c.below(y, 1)})
	return c.choose(inside, c.scaled(dy, float64(c.Float("alpha", 0.2))), c.scalar(y, 0))
}

// hardSwish: y = x·min(1, max(0, x/6+1/2)): slope x/3+1/2 strictly between -3 and 3, else 0 below and 1 above.
func hardSwish(c *call, x, _, dy string) string {
	slope := c.plus(c.scaled(x, 1.0/3), c.scalar(x, 0.5))
	return c.choose(c.below(x, 3), c.choose(c.above(x, -3), c.mul(dy, slope), c.scalar(x, 0)), dy)
}

// gelu: y = x·Φ(x) has the slope Φ(x) + x·φ(x). The approximation by tanh is y = x/2·(1+t), t = tanh(k(x+cx³)),
// k = √(2/π), c = 0.044715, with slope (1+t)/2 + x/2·(1-t²)·k(1+3cx²).
func gelu(c *call, x, _, dy string) string {
	if c.rows(x) && c.Text("approximate", "none") != "tanh" {
		return c.fused("GeluGrad", []string{dy, x}, []bool{true}, nil)[0]
	}
	one, square := c.scalar(x, 1), c.mul(x, x)
	if c.Text("approximate", "none") != "tanh" {
		whole := c.scaled(c.plus(c.op("Erf", []string{c.scaled(x, math.Sqrt2/2)}), one), 0.5)
		bell := c.scaled(c.op("Exp", []string{c.scaled(square, -0.5)}), 1/math.Sqrt(2*math.Pi))
		return c.mul(dy, c.plus(whole, c.mul(x, bell)))
	}
	const cubic = 0.044715
	k := math.Sqrt(2 / math.Pi)
	inner := c.mul(x, c.plus(c.scaled(square, k*cubic), c.scalar(x, k)))
	t := c.op("Tanh", []string{inner})
	rise := c.mul(x, c.plus(c.scaled(square, 3*k*cubic), c.scalar(x, k)))
	bent := c.mul(c.minus(one, c.mul(t, t)), rise)
	return c.mul(dy, c.scaled(c.plus(c.plus(t, one), bent), 0.5))
}
