package graph

import (
	"slices"
)

// inferGemm multiplies A (M×K, or its transpose) by B (K×N, or its transpose).
func inferGemm(c *call) {
	a, b := c.inputFact(0), c.inputFact(1)
	if len(a.shape) != 2 || len(b.shape) != 2 {
		return
	}
	rows, cols := a.shape[0], b.shape[1]
	if c.Int("transA", 0) != 0 {
		rows = a.shape[1]
	}
	if c.Int("transB", 0) != 0 {
		cols = b.shape[0]
	}
	c.setOutput(0, a.typ, Shape{rows, cols})
}

// matMul follows numpy: a vector is a row on the left and a column on the right; leading sizes are broadcast.
func matMul(c *call) {
	a, b := c.inputFact(0).shape, c.inputFact(1).shape
	if len(a) == 0 || len(b) == 0 {
		return
	}
	var rows, cols Shape
	if len(a) > 1 {
		rows = a[len(a)-2 : len(a)-1]
	}
	if len(b) > 1 {
		cols = b[len(b)-1:]
	}
	lead := broadcastShapes(a[:max(len(a)-2, 0)], b[:max(len(b)-2, 0)])
	out := append(append(append(Shape{}, lead...), rows...), cols...)
	c.setOutput(0, c.inputFact(0).typ, out)
}

// inferConv: an input [N,C,…] with filters [M,C/group,…] gives [N,M,…].
func inferConv(c *call) {
	x, w := c.inputFact(0), c.inputFact(1)
	if len(x.shape) < 3 || len(w.shape) != len(x.shape) {
		return
	}
	out := Shape{x.shape[0], w.shape[0]}
	kernel := c.Ints("kernel_shape")
	if kernel == nil {
		kernel = knownSizes(w.shape[2:])
	}
	c.setOutput(0, x.typ, append(out, c.countWindows(x.shape[2:], kernel)...))
}

// inferPool applies windows to each channel. MaxPool may also output the places of its maxima.
func inferPool(c *call) {
	x := c.inputFact(0)
	if len(x.shape) < 3 {
		return
	}
	out := append(Shape{x.shape[0], x.shape[1]}, c.countWindows(x.shape[2:], c.Ints("kernel_shape"))...)
	c.setOutput(0, x.typ, out)
	c.setOutput(1, Int64, out)
}

// knownSizes returns the sizes of a shape, with -1 for free sizes.
func knownSizes(s Shape) []int64 {
	out := make([]int64, len(s))
	for i, d := range s {
		out[i] = d.Size
	}
	return out
}

// countWindows returns the number of windows along each axis:
//
//	⌊(size + padding before + after - dilation·(kernel-1) - 1) / stride⌋ + 1
//
// With ceil_mode the quotient is rounded up, but a last window that would start in the padding after the input is left
// out. With auto_pad SAME_UPPER or SAME_LOWER the number is ⌈size / stride⌉.
func (c *call) countWindows(in Shape, kernel []int64) Shape {
	n := len(in)
	out := make(Shape, n)
	strides, dilations, pads := c.spatialNumbers("strides", n, 1), c.spatialNumbers("dilations", n, 1),
		c.spatialNumbers(
			"pads",
			2*n,
			0,
		)
	auto := c.Text("auto_pad", "NOTSET")
	for i := range out {
		out[i] = Free("")
		if !in[i].Known() || len(kernel) != n || kernel[i] < 1 || strides == nil || dilations == nil || pads == nil ||
			strides[i] < 1 {
			continue
		}
		if auto == "SAME_UPPER" || auto == "SAME_LOWER" {
			out[i] = checkedSize((in[i].Size + strides[i] - 1) / strides[i])
			continue
		}
		before, after := pads[i], pads[n+i]
		if auto == "VALID" {
			before, after = 0, 0
		}
		room := in[i].Size + before + after - dilations[i]*(kernel[i]-1) - 1
		if room < 0 {
			continue
		}
		count := room/strides[i] + 1
		if c.Int("ceil_mode", 0) != 0 && room%strides[i] != 0 && count*strides[i] < in[i].Size+before {
			count++
		}
		out[i] = checkedSize(count)
	}
	return out
}

// spatialNumbers returns an attribute with one number per axis. It returns the default for each axis if the attribute
// is omitted, and nil if its length is wrong.
func (c *call) spatialNumbers(name string, n int, otherwise int64) []int64 {
	list := c.Ints(name)
	if list == nil {
		list = slices.Repeat([]int64{otherwise}, n)
	}
	if len(list) != n {
		return nil
	}
	return list
}

// globalPool gives one number per channel.
func globalPool(c *call) {
	x := c.inputFact(0)
	if len(x.shape) < 3 {
		return
	}
	c.setOutput(0, x.typ, append(Shape{x.shape[0], x.shape[1]}, slices.Repeat(Shape{Fixed(1)}, len(x.shape)-2)...))
}

// inferReduce gives the reduced axes size 1, or removes them. The axes are an attribute, and an input from operator
// set 18 on (for ReduceSum from 13 on).
func inferReduce(c *call) {
	axes, ok := c.listArg(1, "axes")
	if !ok {
		return
	}
	if len(axes) == 0 && c.Int("noop_with_empty_axes", 0) != 0 {
		inferSame(c)
		return
	}
	c.setOutput(0, c.inputFact(0).typ, reduceShape(c.inputFact(0).shape, axes, c.Int("keepdims", 1) != 0))
	if list, ok := knownValues(c.inputFact(0).ints); ok && len(c.inputFact(0).shape) == 1 && c.Op == "ReduceProd" {
		n := knownNumber(1)
		for _, v := range list {
			if n.known {
				n = computeOp("Mul", n.value, v)
			}
		}
		c.setInts([]number{n})
	}
}

// topK gives the axis the requested number of places, which is an attribute before operator set 10.
func topK(c *call) {
	x := c.inputFact(0)
	at, ok := normaliseAxis(c.Int("axis", -1), len(x.shape))
	if !ok {
		return
	}
	out := slices.Clone(x.shape)
	out[at] = Free("")
	if k := c.inputFact(1).ints; len(k) == 1 {
		out[at] = k[0].toDim()
	} else if c.Attribute("k") != nil {
		out[at] = checkedSize(c.Int("k", 0))
	}
	c.setOutput(0, x.typ, out)
	c.setOutput(1, Int64, out)
}

// argReduce reduces one axis like inferReduce, and outputs places.
func argReduce(c *call) {
	c.setOutput(0, Int64, reduceShape(c.inputFact(0).shape, []int64{c.Int("axis", 0)}, c.Int("keepdims", 1) != 0))
}

// reduceShape returns the shape after a reduction over the axes, or over all axes if the list is empty.
func reduceShape(in Shape, axes []int64, keep bool) Shape {
	if in == nil {
		return nil
	}
	gone := make([]bool, len(in))
	for _, a := range axes {
		at, ok := normaliseAxis(a, len(in))
		if !ok {
			return nil
		}
		gone[at] = true
	}
	out := Shape{}
	for i, d := range in {
		switch {
		case !gone[i] && len(axes) > 0:
			out = append(out, d)
		case keep:
			out = append(out, Fixed(1))
		}
	}
	return out
}
