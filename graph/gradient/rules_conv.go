package gradient

import (
	"slices"

	"winnow/graph"
)

// conv differentiates Y = Conv(X, W, b), X [N, C, in…], W [O, C/g, kernel…], Y [N, O, out…]:
//
//	∂L/∂W[o,c,t] = Σ_{n,p} ∂L/∂Y[n,o,p] · X[n, c, p·stride - before + t·dilation]
//	∂L/∂X is the transposed convolution of ∂L/∂Y with W,   ∂L/∂b[o] = Σ_{n,p} ∂L/∂Y[n,o,p]
func conv(c *call) error {
	sizes, err := c.fixedSizes(c.in(1))
	if err != nil {
		return err
	}
	w, err := c.window(sizes[2:])
	if err != nil {
		return err
	}
	v := &convolution{call: c, window: w, groups: c.Int("group", 1), to: sizes[0], from: sizes[1] * c.Int("group", 1)}
	if c.wants(0) {
		c.give(0, v.input())
	}
	if c.wants(1) {
		c.give(1, v.weights())
	}
	if c.wants(2) {
		axes := []int64{0}
		for i := range w.in {
			axes = append(axes, int64(2+i))
		}
		c.give(2, c.op("ReduceSum", []string{c.grad[0], c.ints(axes...)}, graph.Int("keepdims", 0)))
	}
	return nil
}

// convolution is one Conv during the walk.
type convolution struct {
	*call
	*window
	groups   int64
	from, to int64 // channels of X and of Y
}

// input is ∂L/∂X.
func (v *convolution) input() string {
	return v.transposedConv(v.window, v.grad[0], v.call.in(1), v.groups)
}

// weights is ∂L/∂W: the columns of X, [N, g, kernel·C/g, out], times ∂L/∂Y, summed over N.
func (v *convolution) weights() string {
	places := v.places()
	padded := v.padded(v.call.in(0), v.window, "")
	var parts []string
	v.each(func(at []int64) {
		parts = append(parts, v.op("Reshape", []string{v.tap(padded, v.window, at), v.ints(0, v.groups, v.from/v.groups, places)}))
	})
	columns := parts[0]
	if len(parts) > 1 {
		columns = v.op("Concat", parts, graph.Int("axis", 2))
	}
	dy := v.op("Reshape", []string{v.grad[0], v.ints(0, v.groups, v.to/v.groups, places)})
	each := v.matMulT(dy, columns)
	sum := v.op("ReduceSum", []string{each, v.ints(0)}, graph.Int("keepdims", 0))
	taps := v.taps()
	if taps > 1 {
		sum = v.op("Reshape", []string{sum, v.ints(v.to, taps, v.from/v.groups)})
		sum = v.op("Transpose", []string{sum}, graph.Ints("perm", 0, 2, 1))
	}
	return v.like(sum, v.call.in(1))
}

// matMulT is A·Bᵀ over the last two axes.
func (c *call) matMulT(a, b string) string {
	if c.isFloat32(c.in(0)) {
		return c.contrib("FusedMatMul", []string{a, b}, graph.Int("transB", 1))
	}
	return c.op("MatMul", []string{a, c.op("Transpose", []string{b}, graph.Ints("perm", 0, 1, 3, 2))})
}

// transposedConv spreads dy [N, O, out…] with filters [O, C/g, kernel…] over [N, C, in…].
func (c *call) transposedConv(w *window, dy, filters string, groups int64) string {
	n := len(w.in)
	beyond, after := make([]int64, n), make([]int64, n)
	for i := range n {
		beyond[i], after[i] = max(-w.after[i], 0), max(w.after[i], 0)
	}
	return c.op("ConvTranspose", []string{dy, filters}, graph.Ints("kernel_shape", w.kernel...), graph.Ints("strides", w.stride...),
		graph.Ints("dilations", w.dilation...), graph.Ints("pads", slices.Concat(w.before, after)...),
		graph.Ints("output_padding", beyond...), graph.Int("group", groups))
}
