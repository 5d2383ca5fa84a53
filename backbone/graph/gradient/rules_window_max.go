package gradient

import (
	"slices"

	"winnow/backbone/graph"
)

// maxPool gives each window's gradient to the place of its maximum, the first of several equal ones (as in ONNX
// Runtime's Indices, and in torch).
func maxPool(c *call) error {
	w, err := c.window(c.Ints("kernel_shape"))
	if err != nil {
		return err
	}
	relu := c.r.reluBefore(c.Node)
	if len(c.Outputs) == 1 && c.poolKernels(w, relu) {
		c.r.passed[c.in(0)] = c.r.passed[c.in(0)] || relu
		return nil
	}
	indices := c.maxima()
	channels, err := c.channels(c.in(0))
	if err != nil {
		return err
	}
	flat, dy := c.ints(-1), c.grad[0]
	if relu {
		dy = c.where(dy, c.Outputs[0])
		c.r.passed[c.in(0)] = true
	}
	if c.poolAt(w, dy, indices) {
		return nil
	}
	batch := c.op("Shape", []string{dy}, graph.Int("start", 0), graph.Int("end", 1))
	zeros := c.op("ConstantOfShape", []string{c.op("Mul", []string{batch, c.ints(channels * product(w.in))})},
		graph.TensorValue("value", c.zero(c.in(0))))
	sum := c.op("ScatterElements", []string{zeros, c.op("Reshape", []string{indices, flat}),
		c.op("Reshape", []string{dy, flat})},
		graph.String("reduction", "add"))
	c.give(0, c.like(sum, c.in(0)))
	return nil
}

// maxima returns the places of the maxima. Before set 8 the operator does not output them, and with storage_order it
// counts columns first: the backward pass then looks for the maxima again.
func (c *call) maxima() string {
	if c.r.f.opset() >= 8 && c.Int("storage_order", 0) == 0 {
		return c.output(1)
	}
	return c.ops("MaxPool", 2, c.Inputs, slices.DeleteFunc(slices.Clone(c.Attributes), func(a *graph.Attribute) bool {
		return a.Name == "storage_order"
	})...)[1]
}

// reluBefore reports whether a node reads a Relu's output that nothing else reads. A window's maximum is
// positive exactly where the Relu passes on the gradient, and there are fewer windows than places. So the
// gradient is cut before it is spread, and the Relu's output need not be stored.
func (r *reverse) reluBefore(n *graph.Node) bool {
	x, relu, readers := n.Inputs[0], false, 0
	for _, other := range r.nodes {
		relu = relu || key(other) == "Relu" && other.Outputs[0] == x
		if slices.Contains(reads(other), x) {
			readers++
		}
	}
	return relu && readers == 1 && x != r.o.Output
}

// zero returns a tensor with one zero of the element type of a forward tensor.
func (c *call) zero(like string) *graph.Tensor {
	if c.dtype(like) == graph.Float64 {
		return graph.NewTensor("zero", []float64{0}, 1)
	}
	return graph.NewTensor("zero", []float32{0}, 1)
}

// globalMaxPool gives a channel's gradient to the first place of its maximum.
func globalMaxPool(c *call) error {
	x := c.in(0)
	sizes := c.shape(x)
	if len(sizes) < 3 {
		return errFree(c, x)
	}
	places := int64(1)
	for _, d := range sizes[2:] {
		if !d.Known() {
			return errFree(c, x)
		}
		places *= d.Size
	}
	channels, err := c.channels(x)
	if err != nil {
		return err
	}
	order := make([]int64, places)
	for i := range order {
		order[i] = int64(i)
	}
	first := c.op("ArgMax", []string{c.op("Reshape", []string{x, c.ints(0, channels, places)})}, graph.Int("axis", 2))
	mask := c.op("Equal", []string{first, c.ints(order...)})
	dy := c.op("Reshape", []string{c.grad[0], c.ints(0, channels, 1)})
	c.give(0, c.like(c.op("Where", []string{mask, dy, c.scalar(x, 0)}), x))
	return nil
}
