package gradient

import "winnow/graph"

// relu passes the gradient where the output is positive: ∂L/∂x = ∂L/∂y · [y > 0]. No output is negative, so
// [y > 0] is y as a truth value: with Where and Greater it takes twice as long.
func relu(c *call) error {
	y := c.Outputs[0]
	positive := c.op("Cast", []string{y}, graph.Int("to", int64(graph.Bool)))
	c.give(0, c.op("Mul", []string{c.grad[0], c.op("Cast", []string{positive}, graph.Int("to", int64(c.dtype(y))))}))
	return nil
}

// add passes the gradient to both sides, summed over what was repeated.
func add(c *call) error {
	for i := range 2 {
		if !c.wants(i) {
			continue
		}
		g, err := c.reduced(c.grad[0], c.in(i), c.Outputs[0])
		if err != nil {
			return err
		}
		c.give(i, g)
	}
	return nil
}
