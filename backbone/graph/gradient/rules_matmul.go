package gradient

import (
	"fmt"

	"winnow/backbone/graph"
)

// gemm: Y = α·A'·B' + β·C, where A' is A or its transpose, and likewise B':
//
//	∂L/∂A' = α·∂L/∂Y·B'ᵀ   ∂L/∂B' = α·A'ᵀ·∂L/∂Y   ∂L/∂C = β·∂L/∂Y, summed over the repeated axes of C
func gemm(c *call) error {
	a, b, dy := c.in(0), c.in(1), c.grad[0]
	transA, transB := c.Int("transA", 0) != 0, c.Int("transB", 0) != 0
	alpha := float64(c.Float("alpha", 1))
	if c.wants(0) {
		if transA {
			c.give(0, c.gemm(b, transB, dy, true, alpha))
		} else {
			c.give(0, c.gemm(dy, false, b, !transB, alpha))
		}
	}
	if c.wants(1) {
		if transB {
			c.give(1, c.gemm(dy, true, a, transA, alpha))
		} else {
			c.give(1, c.gemm(a, !transA, dy, false, alpha))
		}
	}
	return c.pass(2, func() string { return c.scaled(dy, float64(c.Float("beta", 1))) })
}

// gemm returns α·a·b of two matrices, each transposed first if requested.
func (c *call) gemm(a string, transA bool, b string, transB bool, alpha float64) string {
	return c.op("Gemm", []string{a, b}, append(transposed(transA, transB), graph.Float("alpha", float32(alpha)))...)
}

func transposed(a, b bool) []*graph.Attribute {
	flag := map[bool]int64{true: 1}
	return []*graph.Attribute{graph.Int("transA", flag[a]), graph.Int("transB", flag[b])}
}

// matMul: Y = A·B over the last two axes, with broadcasting of the leading ones: ∂L/∂A = ∂L/∂Y·Bᵀ and
// ∂L/∂B = Aᵀ·∂L/∂Y, summed over repeated axes. A vector is a row on the left and a column on the right.
func matMul(c *call) error {
	a, b, dy := c.in(0), c.in(1), c.grad[0]
	as, bs := c.shape(a), c.shape(b)
	if len(as) == 0 || len(bs) == 0 {
		return fmt.Errorf("found shapes %v and %v, expected known ones", as, bs)
	}
	if len(bs) == 2 && len(as) >= 2 {
		c.byMatrix(a, b, dy, len(as))
		return nil
	}
	row, column := len(as) == 1, len(bs) == 1
	full := c.shape(c.Outputs[0])
	if full == nil {
		return fmt.Errorf("shape of %q: found ?, expected a known one", c.Outputs[0])
	}
	lead := full[:len(full)-2+count(row, column)]
	if row {
		a, as = c.op("Unsqueeze", []string{a, c.ints(0)}), graph.Shape{graph.Fixed(1), as[0]}
		dy = c.op("Unsqueeze", []string{dy, c.ints(int64(len(lead)))})
	}
	if column {
		b, bs = c.op("Unsqueeze", []string{b, c.ints(1)}), graph.Shape{bs[0], graph.Fixed(1)}
		dy = c.op("Unsqueeze", []string{dy, c.ints(-1)})
	}
	if c.wants(0) {
		if err := c.giveMatrix(0, c.product(dy, len(full)+count(row, column), false, b, len(bs), true), lead, as,
			row); err != nil {
			return err
		}
	}
	if c.wants(1) {
		return c.giveMatrix(1, c.product(a, len(as), true, dy, len(full)+count(row, column), false), lead, bs, column)
	}
	return nil
}

func count(flags ...bool) (n int) {
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

// giveMatrix gives the i-th input a gradient [lead…, rows, columns]. The input has the last two or more of
// these axes, or is a vector of the same elements.
func (c *call) giveMatrix(i int, grad string, lead, own graph.Shape, vector bool) error {
	if vector {
		if len(lead) > 0 {
			grad = c.op("ReduceSum", []string{grad, c.ints(all(len(lead))...)}, graph.Int("keepdims", 0))
		}
		c.give(i, c.op("Reshape", []string{grad, c.ints(-1)}))
		return nil
	}
	from := append(append(graph.Shape{}, lead...), own[len(own)-2:]...)
	g, err := c.reducedFrom(grad, from, c.in(i))
	if err == nil {
		c.give(i, g)
	}
	return err
}

// byMatrix handles a single matrix B for all rows of A, so that the products are of matrices: [rows, K]·[K,
// columns].
func (c *call) byMatrix(a, b, dy string, rank int) {
	flat := func(t string) string {
		if rank == 2 {
			return t
		}
		return c.op("Flatten", []string{t}, graph.Int("axis", int64(rank-1)))
	}
	rows := flat(dy)
	if c.wants(0) {
		grad := c.gemm(rows, false, b, true, 1)
		if rank > 2 {
			grad = c.like(grad, a)
		}
		c.give(0, grad)
	}
	if c.wants(1) {
		c.give(1, c.gemm(flat(a), true, rows, false, 1))
	}
}

// product returns a·b over the last two axes, each transposed first if requested. FusedMatMul, which avoids the
// transposed copy, has a kernel for float32 everywhere; its α replaces a Mul before it.
func (c *call) product(a string, rankA int, transA bool, b string, rankB int, transB bool) string {
	if c.dtype(c.Outputs[0]) == graph.Float32 {
		attributes, factors := transposed(transA, transB), []string{a, b}
		for i, f := range factors {
			if s, ok := c.r.scaled[f]; ok {
				factors[i] = s.of
				attributes = append(attributes, graph.Float("alpha", float32(s.by)))
				break
			}
		}
		return c.contrib("FusedMatMul", factors, attributes...)
	}
	return c.op("MatMul", []string{c.turned(a, rankA, transA), c.turned(b, rankB, transB)})
}

// turned swaps the last two axes if requested.
func (c *call) turned(t string, rank int, trans bool) string {
	if !trans {
		return t
	}
	perm := all(rank)
	perm[rank-1], perm[rank-2] = perm[rank-2], perm[rank-1]
	return c.op("Transpose", []string{t}, graph.Ints("perm", perm...))
}
