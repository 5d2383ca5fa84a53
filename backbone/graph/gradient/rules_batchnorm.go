package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// trainedNorm differentiates the nodes written by writer as a whole, which takes half as many passes as
// differentiating each node. With s = Σ ∂L/∂y·x̃ and d = Σ ∂L/∂y over n values per channel, and r = 1/√(var+ε):
//
//	∂L/∂scale = r·s   ∂L/∂bias = d   ∂L/∂x = scale·r·(∂L/∂y - d/n - x̃·r²·s/n)
type trainedNorm struct {
	x, centred, variance, count string
	epsilon                     float64
	rank                        int
	size                        int64
}

func (t trainedNorm) deriveNorm(c *call) error {
	dy, scale := c.grad[0], c.inputName(1)
	sum := func(of string) string { return c.overPlaces(of, t.rank) }
	d := sum(dy)
	c.giveGrad(2, d)
	root := c.addOp("Sqrt", []string{c.emitPlus(t.variance, c.constScalar(t.x, t.epsilon))})
	share := c.emitDiv(sum(c.emitMul(dy, t.centred)), root) // r·s
	c.giveGrad(1, share)
	if !c.r.depends[t.x] {
		return nil
	}
	slope := c.emitDiv(scale, root)
	perPlace := c.emitDiv(slope, t.count)
	level := c.minusOf(c.emitMul(perPlace, d))
	tilt := c.minusOf(c.emitDiv(c.emitMul(perPlace, share), root))
	column := c.constInts(append([]int64{t.size}, slices.Repeat([]int64{1}, t.rank-2)...)...)
	// A BatchNormalization with mean 0 and deviation 1 computes a·dy + b in one pass.
	const epsilon = 1e-5
	vector := func(v float64) string {
		return c.addConstant(fmt.Sprint("vector", c.dtypeOf(t.x), v, t.size), func(name string) *graph.Tensor {
			return newFloatTensor(c.dtypeOf(t.x), name, slices.Repeat([]float64{v}, int(t.size)), t.size)
		})
	}
	line := c.addOp("BatchNormalization", []string{dy, slope, level, vector(0), vector(1 - float64(float32(epsilon)))},
		graph.Float("epsilon", epsilon))
	c.giveTo(t.x, c.emitPlus(line, c.emitMul(t.centred, c.addOp("Reshape", []string{tilt, column}))))
	return nil
}
