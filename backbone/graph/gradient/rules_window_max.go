package gradient

import (
	"slices"

	"winnow/backbone/graph"
)

// maxPool passes each window's gradient to the place of its maximum, or of the first of several equal maxima (as in
// ONNX Runtime's Indices, and in torch).
func maxPool(c *call) error {
	w, err := c.readWindow(c.Ints("kernel_shape"))
	if err != nil {
		return err
	}
	relu := c.r.reluBefore(c.Node)
	if len(c.Outputs) == 1 && c.poolKernels(w, relu) {
		c.r.passed[c.inputName(0)] = c.r.passed[c.inputName(0)] || relu
		return nil
	}
	indices := c.maximaPlaces()
	channels, err := c.channelCount(c.inputName(0))
	if err != nil {
		return err
	}
	flat, dy := c.constInts(-1), c.grad[0]
	if relu {
		dy = c.passPositive(dy, c.Outputs[0])
		c.r.passed[c.inputName(0)] = true
	}
	if c.poolAt(w, dy, indices) {
		return nil
	}
	batch := c.addOp("Shape", []string{dy}, graph.Int("start", 0), graph.Int("end", 1))
	zeros := c.addOp("ConstantOfShape", []string{c.addOp("Mul", []string{batch,
		c.constInts(channels * multiplyAll(w.in))})}, graph.TensorValue("value",
		newFloatTensor(c.dtypeOf(c.inputName(0)), "zero", []float64{0}, 1)))
	sum := c.addOp("ScatterElements", []string{zeros, c.addOp("Reshape", []string{indices, flat}),
		c.addOp("Reshape", []string{dy, flat})},
		graph.String("reduction", "add"))
	c.giveGrad(0, c.reshapeLike(sum, c.inputName(0)))
	return nil
}

// maximaPlaces returns the places of the maxima. Before operator set 8 the operator does not output them, and with
// storage_order it counts columns first; in both cases the backward pass finds the maxima again.
func (c *call) maximaPlaces() string {
	if c.r.f.opsetVersion() >= 8 && c.Int("storage_order", 0) == 0 {
		return c.outputName(1)
	}
	return c.addOps("MaxPool", 2, c.Inputs, slices.DeleteFunc(slices.Clone(c.Attributes),
		func(a *graph.Attribute) bool {
			return a.Name == "storage_order"
		})...)[1]
}

// reluBefore reports whether a node reads the output of a Relu that no other node reads. A window's maximum is
// positive exactly where the Relu passes the gradient on, and there are fewer windows than places. Therefore the
// gradient is cut before it is spread, and the Relu's output need not be stored.
func (r *reverse) reluBefore(n *graph.Node) bool {
	x, relu, readers := n.Inputs[0], false, 0
	for _, other := range r.nodes {
		relu = relu || opKey(other) == "Relu" && other.Outputs[0] == x
		if slices.Contains(listReads(other), x) {
			readers++
		}
	}
	return relu && readers == 1 && x != r.o.Output
}

// globalMaxPool passes a channel's gradient to the first place of its maximum.
func globalMaxPool(c *call) error {
	x := c.inputName(0)
	sizes := c.forwardShape(x)
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
	channels, err := c.channelCount(x)
	if err != nil {
		return err
	}
	order := make([]int64, places)
	for i := range order {
		order[i] = int64(i)
	}
	first := c.addOp("ArgMax", []string{c.addOp("Reshape", []string{x, c.constInts(0, channels, places)})},
		graph.Int("axis", 2))
	mask := c.addOp("Equal", []string{first, c.constInts(order...)})
	dy := c.addOp("Reshape", []string{c.grad[0], c.constInts(0, channels, 1)})
	c.giveGrad(0, c.reshapeLike(c.addOp("Where", []string{mask, dy, c.constScalar(x, 0)}), x))
	return nil
}
