package gradient

import (
	"errors"
	"math"
)

// deriveClip passes the gradient where the output is strictly between the limits, as torch's ReLU6 does.
func deriveClip(c *call) error {
	if c.wantsGrad(1) || c.wantsGrad(2) {
		return errors.New("the limits depend on a weight, expected constants")
	}
	y := c.Outputs[0]
	if b, ok := c.r.limits(c.Node); ok && c.planes(y) {
		c.giveGrad(0, c.cut(c.grad[0], y, b))
		return nil
	}
	low, high := c.inputName(1), c.inputName(2)
	if c.r.f.opsetVersion() < 11 {
		if v := c.Attribute("min"); v != nil {
			low = c.constScalar(y, float64(v.Float))
		}
		if v := c.Attribute("max"); v != nil {
			high = c.constScalar(y, float64(v.Float))
		}
	}
	formula := "dy"
	if high != "" {
		formula = "Where(y < high, " + formula + ", 0)"
	}
	if low != "" {
		formula = "Where(y > low, " + formula + ", 0)"
	}
	c.giveGrad(0, c.addFormula(formula, map[string]any{"low": low, "high": high}))
	return nil
}

// deriveGelu: y = x·Φ(x) has the slope Φ(x) + x·φ(x). The tanh approximation y = x/2·(1+t), t = tanh(k(x+cx³)), k =
// √(2/π), c = 0.044715, has the slope (1+t)/2 + x/2·(1-t²)·k(1+3cx²).
func deriveGelu(c *call) error {
	grad := ""
	switch {
	case c.Text("approximate", "none") == "tanh":
		grad = c.addFormula("q := x*x; t := Tanh(x*(q*(k*0.044715) + k)); "+
			"dy*((t + 1 + (1 - t*t)*(x*(q*(k*0.134145) + k)))*0.5)",
			map[string]any{"k": math.Sqrt(2 / math.Pi)})
	case c.rows(c.inputName(0)):
		grad = c.fused("GeluGrad", []string{c.grad[0], c.inputName(0)}, []bool{true}, nil)[0]
	default:
		grad = c.addFormula("dy*((Erf(x*root) + 1)*0.5 + x*(Exp(x*x*-0.5)*bell))",
			map[string]any{"root": math.Sqrt2 / 2, "bell": 1 / math.Sqrt(2*math.Pi)})
	}
	c.giveGrad(0, grad)
	return nil
}
