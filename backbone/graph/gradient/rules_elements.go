package gradient

import (
	"math"

	"winnow/backbone/graph"
)

// deriveIdentity passes the gradient on unchanged.
func deriveIdentity(c *call) error {
	c.giveGrad(0, c.grad[0])
	return nil
}

// deriveRelu passes the gradient where the output is positive: ∂L/∂x = ∂L/∂y · [y > 0]. The rule of a MaxPool after
// the Relu may have done this already.
func deriveRelu(c *call) error {
	if y := c.Outputs[0]; c.r.passed[y] {
		c.giveGrad(0, c.grad[0])
	} else {
		c.giveGrad(0, c.passPositive(c.grad[0], y))
	}
	return nil
}

// passPositive returns dy where the non-negative tensor y is positive, and 0 elsewhere. [y > 0] is computed as y cast
// to a boolean, in half the time of Where and Greater; in float32 as min(1, 2¹²⁷·y), in one pass instead of two.
func (c *call) passPositive(dy, y string) string {
	if c.planes(y) {
		return c.cut(dy, y, between{0, math.Inf(1)})
	}
	if c.isFloat32(y) {
		return c.addOp("Mul", []string{dy, c.addOp("HardSigmoid", []string{y}, graph.Float("alpha", 0x1p127),
			graph.Float("beta", 0))})
	}
	positive := c.addOp("Cast", []string{y}, graph.Int("to", int64(graph.Bool)))
	return c.addOp("Mul", []string{dy, c.addOp("Cast", []string{positive}, graph.Int("to", int64(c.dtypeOf(y))))})
}

// castLike casts a tensor to the element type of a forward tensor.
func (c *call) castLike(t, like string) string {
	return c.addOp("Cast", []string{t}, graph.Int("to", int64(c.dtypeOf(like))))
}

// castBack casts the gradient of a Cast to the type of the input.
func castBack(c *call) error {
	c.giveGrad(0, c.castLike(c.grad[0], c.inputName(0)))
	return nil
}
