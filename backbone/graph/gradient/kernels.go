package gradient

import (
	"math"
	"slices"

	"winnow/backbone/graph"
)

// domain is the domain of winnow's own operators, which package backbone/ort implements. The operators up to
// MaxPoolGrad run on the CPU; Cut, DepthwiseGrad and the operators from ConvGrad on run on CUDA. All tensors are
// float32 [N, C, height, width] unless stated otherwise. "windows" means Conv's attributes (strides, dilations, pads).
// An unwanted output has the name "".
//
//	Cut(dY, Y; low, high) → dX, dB
//	    dX = dY where low < Y < high, else 0; dB[c] = Σ_{n,p} dX[n,c,p]
//	Depthwise(X, W, B; windows, low, high) → Y
//	    Conv with one filter per channel, W [C, 1, kh, kw], clipped to low … high
//	DepthwiseGrad(dY, X, W, Y; windows, low, high) → dX, dW, dB
//	    its derivative by X, W and B; without Y the output was not clipped
//	Conv3x3(X, W, B; windows, low, high) → Y
//	    Conv of one group with filters 3×3, stride 1, dilation 1 and pads up to 2, clipped to low … high;
//	    non-finite values of X spread over the tiles of 2×2 places that read them
//	Conv3x3Grad(dY, X, W, Y; windows, low, high) → dX, dW, dB
//	    its derivative, in the form of DepthwiseGrad
//	MaxPool(X; windows, kernel, in) → Y, tap
//	    tap, uint8: index of the first maximum in each window
//	MaxPoolGrad(dY, tap, Y; windows, kernel, in, low, high) → dX
//	    its derivative, of size X [in]; with Y, the derivative of MaxPool after clipping
//	ConvGrad(dY, X, W; windows, groups) → dX, dW, dB
//	    the derivative of any Conv with equal pads before and after, computed by cuDNN
//	SoftmaxGrad(dY, Y) → dX, LayerNormGrad(dY, X, mean, 1/deviation, scale) → dX, dscale, dbias
//	    over the last axis of tensors of any shape
//	SumRows(dY) → dB
//	    sums over all axes except the last, for tensors of up to four axes
//	GeluGrad(dY, X) → dX
//	MaxPoolGradAt(dY, places; windows, in) → dX
//	    places, int64: index in X of each window's maximum, as ONNX's MaxPool returns it
const domain = "winnow"

// between holds the limits outside of which an activation is constant.
type between struct{ low, high float64 }

var unlimited = between{math.Inf(-1), math.Inf(1)}

func (b between) attributes() []*graph.Attribute {
	return []*graph.Attribute{graph.Float("low", float32(b.low)), graph.Float("high", float32(b.high))}
}

// planes reports whether kernels can process a tensor: they are enabled, and it is float32 with two spatial axes.
func (c *call) planes(tensor string) bool {
	return c.r.o.Kernels != NoKernels && c.isFloat32(tensor) && len(c.forwardShape(tensor)) == 4
}

// fused adds a node of [domain] to the backward model. Only wanted outputs are named.
func (c *call) fused(op string, inputs []string, wanted []bool, attributes []*graph.Attribute) []string {
	c.r.backwardKernels = true
	node := &graph.Node{Name: c.r.b.Fresh(op), Domain: domain, Op: op, Inputs: inputs, Attributes: attributes,
		Outputs: make([]string, len(wanted))}
	for i, want := range wanted {
		if want {
			node.Outputs[i] = c.r.b.Fresh(op)
		}
	}
	c.r.b.Add(node)
	return node.Outputs
}

// cut returns dy where y is strictly between the limits, and 0 elsewhere.
func (c *call) cut(dy, y string, b between) string {
	dx := c.fused("Cut", []string{dy, y}, []bool{true}, b.attributes())[0]
	nodes := c.r.b.Model().Graph.Nodes
	c.r.cuts[dx] = cutting{nodes[len(nodes)-1], b}
	return dx
}

// cutting is a Cut node with its limits.
type cutting struct {
	*graph.Node
	between
}

// total returns the sum of the cut gradient over all axes except the channels.
func (k cutting) total(r *reverse) string {
	if len(k.Outputs) == 1 {
		k.Outputs = append(k.Outputs, r.b.Fresh("Cut"))
	}
	return k.Outputs[1]
}

// limits returns the limits of a Relu or Clip; ok is false if the limits are unknown.
func (r *reverse) limits(n *graph.Node) (b between, ok bool) {
	c := &call{Node: n, r: r}
	switch opKey(n) {
	case "Relu":
		return between{0, math.Inf(1)}, true
	case "Clip":
		b = unlimited
		if r.f.opsetVersion() < 11 {
			return between{float64(c.Float("min", -math.MaxFloat32)), float64(c.Float("max", math.MaxFloat32))}, true
		}
		for i, to := range []*float64{&b.low, &b.high} {
			if c.inputName(1+i) == "" {
				continue
			}
			if *to, ok = c.constantValue(c.inputName(1 + i)); !ok {
				return b, false
			}
		}
		return b, true
	}
	return b, false
}

// ours returns the operator of [domain] that computes a convolution, with its attributes, or "" if no operator does.
func (v *convolution) ours() (op string, windows []*graph.Attribute) {
	if v.r.o.Kernels != ForCPU || !v.planes(v.call.inputName(0)) {
		return "", nil
	}
	switch windows = v.window.attributes(); {
	case windows == nil:
	case v.from == v.groups && v.to == v.groups:
		return "Depthwise", windows
	case v.winograd():
		return "Conv3x3", windows
	}
	return "", nil
}

// winograd reports whether Winograd's algorithm is faster than the runtime's products: the filters are 3×3 with stride
// 1, and there are enough channels to fill vector registers.
func (v *convolution) winograd() bool {
	wide := func(p int64) bool { return p > 2 }
	return v.groups == 1 && v.isDense() && slices.Equal(v.kernel, []int64{3, 3}) &&
		slices.Equal(v.dilation, []int64{1, 1}) &&
		!slices.ContainsFunc(slices.Concat(v.window.before, v.window.after), wide) && v.from >= 16 && v.to >= 16
}

// attributes returns the windows as attributes for the kernels, or nil if the kernels do not support them.
func (w *window) attributes() []*graph.Attribute {
	if len(w.in) != 2 || slices.ContainsFunc(w.before, func(p int64) bool { return p < 0 }) {
		return nil
	}
	return []*graph.Attribute{graph.Ints("strides", w.stride...), graph.Ints("dilations", w.dilation...),
		graph.Ints("pads", slices.Concat(w.before, w.after)...)}
}

// poolKernels computes the gradient of a MaxPool with kernels, which also replace the forward MaxPool, and reports
// whether it could. If cutBefore is set, the gradient is also cut like that of the Relu before the pool.
func (c *call) poolKernels(w *window, cutBefore bool) bool {
	windows := w.attributes()
	if c.r.o.Kernels != ForCPU || windows == nil || w.countTaps() > 256 || !c.planes(c.inputName(0)) {
		return false
	}
	windows = append(windows, graph.Ints("kernel", w.kernel...), graph.Ints("in", w.in...))
	y := *c.r.tensorInfo(c.Outputs[0])
	tap := graph.ValueInfo{Name: c.r.b.Fresh(y.Name + "_tap"), Type: graph.Uint8, Shape: y.Shape}
	g := c.r.f.b.Model().Graph
	g.ValueInfo = append(slices.DeleteFunc(g.ValueInfo, func(v *graph.ValueInfo) bool { return v.Name == y.Name }), &y,
		&tap)
	g.Nodes[slices.Index(g.Nodes, c.Node)] = &graph.Node{Name: c.Name, Domain: domain, Op: "MaxPool",
		Inputs: c.Inputs[:1], Outputs: []string{y.Name, tap.Name},
		Attributes: append(slices.Clone(windows), unlimited.attributes()...)}
	c.r.f.b.Import(domain, 1)
	c.r.late = nil
	inputs, limits := []string{c.grad[0], tap.Name}, unlimited
	if cutBefore {
		inputs, limits = append(inputs, y.Name), between{0, math.Inf(1)}
	}
	c.giveGrad(0, c.fused("MaxPoolGrad", inputs, []bool{true}, append(windows, limits.attributes()...))[0])
	return true
}

// poolAt computes the gradient of a MaxPool from the indices of its maxima with an operator for CUDA, and reports
// whether it could.
func (c *call) poolAt(w *window, dy, places string) bool {
	windows := w.attributes()
	if c.r.o.Kernels != ForCUDA || windows == nil || !c.planes(c.inputName(0)) {
		return false
	}
	windows = append(windows, graph.Ints("kernel", w.kernel...), graph.Ints("in", w.in...))
	c.giveGrad(0, c.fused("MaxPoolGradAt", []string{dy, places}, []bool{true},
		append(windows, unlimited.attributes()...))[0])
	return true
}

// kernelGrad computes all gradients of a convolution with one kernel. The kernel also cuts the gradient for the
// activation after the convolution; the Cut node is dropped if no other node reads it.
func (v *convolution) kernelGrad(op string, windows []*graph.Attribute) {
	inputs, limits := []string{v.dy, v.call.inputName(0), v.call.inputName(1)}, unlimited
	if k, ok := v.r.cuts[v.dy]; ok {
		inputs[0], limits = k.Inputs[0], k.between
		inputs = append(inputs, k.Inputs[1])
	}
	grads := v.fused(op+"Grad", inputs, []bool{v.wantsGrad(0), v.wantsGrad(1), v.wantsGrad(2)},
		append(windows, limits.attributes()...))
	for i, grad := range grads {
		v.giveGrad(i, grad)
	}
}

// cudaGrad computes all gradients of a convolution with one operator for CUDA, and reports whether it could. A Cut
// before it handles the activation after the convolution and sums the cut gradient for the bias. Convolutions of 1×1
// in float32 use ONNX's products: on an H200 these are 2 to 6 times as fast as cuDNN, which wins in TF32.
func (v *convolution) cudaGrad() bool {
	if v.r.o.Kernels != ForCUDA || !v.planes(v.call.inputName(0)) ||
		v.countTaps() == 1 && v.groups == 1 && !v.r.o.TF32 {
		return false
	}
	windows, op := v.window.attributes(), "DepthwiseGrad"
	switch {
	case windows == nil:
		return false
	case v.from == v.groups && v.to == v.groups && v.countTaps() <= 49:
	case v.even():
		op = "ConvGrad"
		windows[2] = graph.Ints("pads", slices.Concat(v.window.before, v.window.before)...)
		windows = append(windows, graph.Ints("groups", v.groups))
	default:
		return false
	}
	windows = append(windows, unlimited.attributes()...)
	_, summed := v.r.cuts[v.dy]
	grads := v.fused(op, []string{v.dy, v.call.inputName(0), v.call.inputName(1)},
		[]bool{v.wantsGrad(0), v.wantsGrad(1), v.wantsGrad(2) && !summed}, windows)
	for i, grad := range grads {
		if i == 2 && summed && v.wantsGrad(2) {
			grad = v.overPlaces(v.dy, 4)
		}
		v.giveGrad(i, grad)
	}
	return true
}

// rows reports whether an operator for CUDA can process a tensor, which may have any shape of up to four axes.
func (c *call) rows(tensor string) bool {
	n := len(c.forwardShape(tensor))
	return c.r.o.Kernels == ForCUDA && c.isFloat32(tensor) && n > 0 && n <= 4
}

// even reports whether the padding is equal on both sides and gives the output's size.
func (w *window) even() bool {
	for i, p := range w.before {
		if max(w.after[i], w.declaredAfter[i]) != p ||
			(w.in[i]+2*p-w.dilation[i]*(w.kernel[i]-1)-1)/w.stride[i]+1 != w.out[i] {
			return false
		}
	}
	return true
}

// useKernels replaces the forward model's convolutions with trained filters by kernels where these exist. A Relu or
// Clip after the convolution is included if no other node reads the value in between. saved lists the tensors that the
// backward model reads.
func (r *reverse) useKernels(saved []string) {
	g := r.f.b.Model().Graph
	kept := map[string]bool{r.o.Output: true}
	for _, name := range saved {
		kept[name] = true
	}
	readers := map[string][]*graph.Node{}
	for _, n := range g.Nodes {
		for _, name := range listReads(n) {
			readers[name] = append(readers[name], n)
		}
	}
	dropped := map[*graph.Node]bool{}
	for i, n := range g.Nodes {
		op, windows := r.ours(n)
		if op == "" {
			continue
		}
		out, limits := n.Outputs[0], unlimited
		if next := readers[out]; len(next) == 1 && !kept[out] {
			if b, ok := r.limits(next[0]); ok && next[0].Inputs[0] == out {
				out, limits = next[0].Outputs[0], b
				dropped[next[0]] = true
			}
		}
		info := *r.tensorInfo(out)
		g.ValueInfo = append(slices.DeleteFunc(g.ValueInfo, func(v *graph.ValueInfo) bool { return v.Name == out }),
			&info)
		g.Nodes[i] = &graph.Node{Name: n.Name, Domain: domain, Op: op, Inputs: n.Inputs, Outputs: []string{out},
			Attributes: append(windows, limits.attributes()...)}
		r.f.b.Import(domain, 1)
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *graph.Node) bool { return dropped[n] })
}

// ours returns the operator of [domain] for a convolution with trained filters, or "" for other nodes.
func (r *reverse) ours(n *graph.Node) (op string, windows []*graph.Attribute) {
	if v := r.liveConv(n); v != nil {
		return v.ours()
	}
	return "", nil
}

// liveConv returns a convolution whose filters are trained, or nil for other nodes.
func (r *reverse) liveConv(n *graph.Node) *convolution {
	if opKey(n) != "Conv" || len(n.Inputs) < 2 || r.f.consts[n.Inputs[1]] != nil {
		return nil
	}
	c := &call{Node: n, r: r}
	sizes, err := c.fixedSizes(c.inputName(1))
	if err != nil {
		return nil
	}
	w, err := c.readWindow(sizes[2:])
	if err != nil {
		return nil
	}
	groups := c.Int("group", 1)
	return &convolution{call: c, window: w, groups: groups, to: sizes[0], from: sizes[1] * groups}
}
