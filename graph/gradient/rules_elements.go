package gradient

// relu passes the gradient where the output is positive: ∂L/∂x = ∂L/∂y · [y > 0].
func relu(c *call) error {
	y := c.Outputs[0]
	c.give(0, c.op("Where", []string{c.op("Greater", []string{y, c.scalar(y, 0)}), c.grad[0], c.scalar(y, 0)}))
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
