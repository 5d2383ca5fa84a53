package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// trainedNorm differentiates the expansion made by writer as a whole; differentiating each primitive would take
// twice the passes. With s = Σ ∂L/∂y·x̃ and d = Σ ∂L/∂y over n places, r = 1/√(var+ε):
//
//	∂L/∂scale = r·s   ∂L/∂bias = d   ∂L/∂x = scale·r·(∂L/∂y - d/n - x̃·r²·s/n)
type trainedNorm struct {
	x, centred, variance, count string
	epsilon                     float64
	rank                        int
	size                        int64
}

func (t trainedNorm) rule(c *call) error {
	dy, scale := c.grad[0], c.in(1)
	sum := func(of string) string { return c.overPlaces(of, t.rank) }
	d := sum(dy)
	c.give(2, d)
	root := c.op("Sqrt", []string{c.plus(t.variance, c.scalar(t.x, t.epsilon))})
	share := c.div(sum(c.mul(dy, t.centred)), root) // r·s
	c.give(1, share)
	if !c.r.depends[t.x] {
		return nil
	}
	slope := c.div(scale, root)
	perPlace := c.div(slope, t.count)
	level := c.minusOf(c.mul(perPlace, d))
	tilt := c.minusOf(c.div(c.mul(perPlace, share), root))
	column := c.ints(append([]int64{t.size}, slices.Repeat([]int64{1}, t.rank-2)...)...)
	// BatchNormalization with mean 0 and deviation 1 computes a·dy + b in one pass.
	const epsilon = 1e-5
	vector := func(v float64) string {
		return c.constant(fmt.Sprint("vector", c.dtype(t.x), v, t.size), func(name string) *graph.Tensor {
			return numbers(c.dtype(t.x), name, slices.Repeat([]float64{v}, int(t.size)), t.size)
		})
	}
	line := c.op("BatchNormalization", []string{dy, slope, level, vector(0), vector(1 - float64(float32(epsilon)))},
		graph.Float("epsilon", epsilon))
	c.giveTo(t.x, c.plus(line, c.mul(t.centred, c.op("Reshape", []string{tilt, column}))))
	return nil
}
