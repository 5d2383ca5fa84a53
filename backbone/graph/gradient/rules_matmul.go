package gradient

import (
	"fmt"

	"winnow/backbone/graph"
)

// deriveGemm differentiates Y = α·A'·B' + β·C, where A' is A or its transpose and B' is B or its transpose:
//
//	∂L/∂A' = α·∂L/∂Y·B'ᵀ   ∂L/∂B' = α·A'ᵀ·∂L/∂Y   ∂L/∂C = β·∂L/∂Y, summed over the repeated axes of C
func deriveGemm(c *call) error {
	a, b, dy := c.inputName(0), c.inputName(1), c.grad[0]
	transA, transB := c.Int("transA", 0) != 0, c.Int("transB", 0) != 0
	alpha := float64(c.Float("alpha", 1))
	if c.wantsGrad(0) {
		if transA {
			c.giveGrad(0, c.emitGemm(b, transB, dy, true, alpha))
		} else {
			c.giveGrad(0, c.emitGemm(dy, false, b, !transB, alpha))
		}
	}
	if c.wantsGrad(1) {
		if transB {
			c.giveGrad(1, c.emitGemm(dy, true, a, transA, alpha))
		} else {
			c.giveGrad(1, c.emitGemm(a, !transA, dy, false, alpha))
		}
	}
	return c.giveReduced(2, func() string { return c.emitScaled(dy, float64(c.Float("beta", 1))) })
}

// emitGemm returns the product α·a·b of two matrices, each transposed first if requested.
func (c *call) emitGemm(a string, transA bool, b string, transB bool, alpha float64) string {
	return c.addOp(
		"Gemm",
		[]string{a, b},
		append(transposeFlags(transA, transB), graph.Float("alpha", float32(alpha)))...)
}

func transposeFlags(a, b bool) []*graph.Attribute {
	flag := map[bool]int64{true: 1}
	return []*graph.Attribute{graph.Int("transA", flag[a]), graph.Int("transB", flag[b])}
}

// matMul differentiates Y = A·B over the last two axes, with broadcasting of the other axes: ∂L/∂A = ∂L/∂Y·Bᵀ and
// ∂L/∂B = Aᵀ·∂L/∂Y, summed over repeated axes.
func matMul(c *call) error {
	a, b, dy := c.inputName(0), c.inputName(1), c.grad[0]
	as, bs, full := c.forwardShape(a), c.forwardShape(b), c.forwardShape(c.Outputs[0])
	if len(as) < 2 || len(bs) < 2 || len(full) < 2 {
		return fmt.Errorf("found shapes %v and %v, expected known shapes of at least two axes", as, bs)
	}
	if len(bs) == 2 {
		c.byMatrix(a, b, dy, len(as))
		return nil
	}
	lead := full[:len(full)-2]
	if c.wantsGrad(0) {
		if err := c.giveMatrix(0, c.emitProduct(dy, len(full), false, b, len(bs), true), lead, as); err != nil {
			return err
		}
	}
	if c.wantsGrad(1) {
		return c.giveMatrix(1, c.emitProduct(a, len(as), true, dy, len(full), false), lead, bs)
	}
	return nil
}

// giveMatrix adds a gradient [lead…, rows, columns] to that of the i-th input, whose shape is own.
func (c *call) giveMatrix(i int, grad string, lead, own graph.Shape) error {
	from := append(append(graph.Shape{}, lead...), own[len(own)-2:]...)
	g, err := c.reducedFrom(grad, from, c.inputName(i))
	if err == nil {
		c.giveGrad(i, g)
	}
	return err
}

// byMatrix handles a single matrix B that multiplies all rows of A. The products are then of two matrices: [rows,
// K]·[K, columns].
func (c *call) byMatrix(a, b, dy string, rank int) {
	flat := func(t string) string {
		if rank == 2 {
			return t
		}
		return c.addOp("Flatten", []string{t}, graph.Int("axis", int64(rank-1)))
	}
	rows := flat(dy)
	if c.wantsGrad(0) {
		grad := c.emitGemm(rows, false, b, true, 1)
		if rank > 2 {
			grad = c.reshapeLike(grad, a)
		}
		c.giveGrad(0, grad)
	}
	if c.wantsGrad(1) {
		c.giveGrad(1, c.emitGemm(flat(a), true, rows, false, 1))
	}
}

// emitProduct returns a·b over the last two axes, each transposed first if requested. FusedMatMul avoids the copy for
// the transpose and has float32 kernels on all devices; its α replaces a separate Mul.
func (c *call) emitProduct(a string, rankA int, transA bool, b string, rankB int, transB bool) string {
	if c.dtypeOf(c.Outputs[0]) == graph.Float32 {
		attributes, factors := transposeFlags(transA, transB), []string{a, b}
		for i, f := range factors {
			if s, ok := c.r.scaled[f]; ok {
				factors[i] = s.of
				attributes = append(attributes, graph.Float("alpha", float32(s.by)))
				break
			}
		}
		return c.addContrib("FusedMatMul", factors, attributes...)
	}
	return c.addOp("MatMul", []string{c.swapLastAxes(a, rankA, transA), c.swapLastAxes(b, rankB, transB)})
}

// swapLastAxes swaps the last two axes of t if trans is set.
func (c *call) swapLastAxes(t string, rank int, trans bool) string {
	if !trans {
		return t
	}
	perm := allAxes(rank)
	perm[rank-1], perm[rank-2] = perm[rank-2], perm[rank-1]
	return c.addOp("Transpose", []string{t}, graph.Ints("perm", perm...))
}
