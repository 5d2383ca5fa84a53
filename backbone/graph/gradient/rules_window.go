package gradient

import (
	"fmt"

	"winnow/backbone/graph"
)

// window describes the windows of Conv and the pools along the spatial axes, with all sizes known. Along an axis,
// window o covers the places
//
//	o·stride - before + t·dilation,   t = 0 … kernel-1,   o = 0 … out-1
//
// of the input; places outside of the input are padding. after is the padding that makes the last window fit exactly:
// negative if the stride leaves places that no window reads, and more than the attribute if ceil_mode allows the last
// window to extend beyond the attribute's padding.
type window struct {
	in, out                       []int64
	kernel, stride, dilation      []int64
	before, after                 []int64
	declaredBefore, declaredAfter []int64 // padding given by the attributes
}

// readWindow reads the geometry from the node's attributes and the shapes of its first input and output.
func (c *call) readWindow(kernel []int64) (*window, error) {
	x, y := c.forwardShape(c.inputName(0)), c.forwardShape(c.Outputs[0])
	n := len(x) - 2
	if n < 1 || len(y) != len(x) {
		return nil, fmt.Errorf("found input %q of shape %v, expected [N, C, …] with known sizes", c.inputName(0), x)
	}
	w := &window{kernel: kernel}
	for i := range n {
		if !x[2+i].Known() || !y[2+i].Known() {
			return nil, fmt.Errorf("found input %q of shape %v, expected known sizes after [N, C]", c.inputName(0), x)
		}
		w.in, w.out = append(w.in, x[2+i].Size), append(w.out, y[2+i].Size)
	}
	w.stride, w.dilation = c.spatialCopy("strides", n, 1), c.spatialCopy("dilations", n, 1)
	pads := c.spatialCopy("pads", 2*n, 0)
	if len(w.kernel) != n || w.stride == nil || w.dilation == nil || pads == nil {
		return nil, fmt.Errorf("found attributes that do not match the %d spatial axes", n)
	}
	w.declaredBefore, w.declaredAfter = pads[:n], pads[n:]
	auto := c.Text("auto_pad", "NOTSET")
	for i := range n {
		reach := (w.out[i]-1)*w.stride[i] + w.dilation[i]*(w.kernel[i]-1) + 1
		switch total := max(reach-w.in[i], 0); auto {
		case "SAME_UPPER":
			w.declaredBefore[i], w.declaredAfter[i] = total/2, total-total/2
		case "SAME_LOWER":
			w.declaredBefore[i], w.declaredAfter[i] = total-total/2, total/2
		case "VALID":
			w.declaredBefore[i], w.declaredAfter[i] = 0, 0
		}
		w.before = append(w.before, w.declaredBefore[i])
		w.after = append(w.after, reach-w.in[i]-w.before[i])
	}
	return w, nil
}

// spatialCopy returns a copy of an attribute with one number per axis. It returns the default for each axis if the
// attribute is omitted, and nil if its length is wrong.
func (c *call) spatialCopy(name string, n int, otherwise int64) []int64 {
	list := make([]int64, n)
	given := c.Ints(name)
	if given != nil && len(given) != n {
		return nil
	}
	for i := range list {
		list[i] = otherwise
		if given != nil {
			list[i] = given[i]
		}
	}
	return list
}

// countTaps returns the number of places in a window.
func (w *window) countTaps() int64 { return multiplyAll(w.kernel) }

// countPlaces returns the number of windows.
func (w *window) countPlaces() int64 { return multiplyAll(w.out) }

func multiplyAll(list []int64) int64 {
	p := int64(1)
	for _, v := range list {
		p *= v
	}
	return p
}

// addPadding adds the padding around x [N, C, in…], so that every window is inside the result.
func (c *call) addPadding(x string, w *window, value string) string {
	n := len(w.in)
	pads, some := make([]int64, 2*(n+2)), false
	for i := range n {
		pads[2+i], pads[n+4+i] = w.before[i], max(w.after[i], 0)
		some = some || pads[2+i] != 0 || pads[n+4+i] != 0
	}
	if !some {
		return x
	}
	inputs := []string{x, c.constInts(pads...)}
	if value != "" {
		inputs = append(inputs, value)
	}
	return c.addOp("Pad", inputs)
}

// takeTap returns the value at one tap of every window of the padded tensor [N, C, …], as [N, C, out…].
func (c *call) takeTap(padded string, w *window, at []int64) string {
	var starts, ends, axes, steps []int64
	for i := range at {
		start := at[i] * w.dilation[i]
		end := start + (w.out[i]-1)*w.stride[i] + 1
		if start == 0 && w.stride[i] == 1 && end == w.in[i]+w.before[i]+max(w.after[i], 0) {
			continue
		}
		starts, ends = append(starts, start), append(ends, end)
		axes, steps = append(axes, int64(2+i)), append(steps, w.stride[i])
	}
	if axes == nil {
		return padded
	}
	return c.addOp("Slice", []string{padded, c.constInts(starts...), c.constInts(ends...), c.constInts(axes...),
		c.constInts(steps...)})
}

// channelCount returns the size of axis 1, which must be known.
func (c *call) channelCount(tensor string) (int64, error) {
	if s := c.forwardShape(tensor); len(s) > 1 && s[1].Known() {
		return s[1].Size, nil
	}
	return 0, fmt.Errorf("found %q of shape %v, expected a known number of channels", tensor, c.forwardShape(tensor))
}

// fixedSizes returns the shape of a tensor, whose sizes must all be known.
func (c *call) fixedSizes(tensor string) ([]int64, error) {
	s := c.forwardShape(tensor)
	out := make([]int64, len(s))
	for i, d := range s {
		if !d.Known() {
			return nil, fmt.Errorf("found %q of shape %v, expected known sizes", tensor, s)
		}
		out[i] = d.Size
	}
	if s == nil {
		return nil, fmt.Errorf("the shape of %q is not known", tensor)
	}
	return out, nil
}

// isFloat32 reports whether a tensor is float32. Some CPU kernels exist only for that type.
func (c *call) isFloat32(tensor string) bool { return c.dtypeOf(tensor) == graph.Float32 }
