package architecture

import (
	"cmp"
	"fmt"

	"winnow/backbone/graph"
)

// layer adds its nodes and weights to a plan, after the value in, and returns its output.
type layer func(p *plan, in value) (value, error)

// layerKinds returns the layers by name. A new layer is a line here. It is a function, not a variable, because layers
// contain lists of layers.
func layerKinds() map[string]func(s part, depth int) (layer, error) {
	return map[string]func(part, int) (layer, error){
		"conv": newConv, "linear": newLinearLayer, "batch_norm": newNorm,
		"relu": newRelu, "prelu": newPRelu,
		"max_pool":     func(s part, _ int) (layer, error) { return newPool(s, "MaxPool") },
		"average_pool": func(s part, _ int) (layer, error) { return newPool(s, "AveragePool") },
		"flatten":      newFlatten, "global_average_pool": globalPool,
		"residual": newResidual, "repeat": newRepeat, "stage": newStage,
	}
}

// newConv is a square convolution.
func newConv(s part, _ int) (layer, error) {
	k := s.readKeys("out", "kernel", "stride", "pad", "groups", "bias", "init")
	out := k.readInteger("out", 0, 1, maxChannels)
	w := k.layerWindow(1)
	groups, bias, init := k.readInteger("groups", 1, 1, maxChannels), k.readBool("bias", true), ownInit(k)
	return func(p *plan, in value) (value, error) {
		side, err := w.windowsAlong(in)
		if err != nil {
			return in, err
		}
		if in.channels%groups != 0 || out%groups != 0 {
			return in, fmt.Errorf("found %d groups, expected a divisor of both %d input and %d output channels",
				groups, in.channels, out)
		}
		name, kernel := p.nextLayerName("conv"), int64(w.kernel)
		per, places := int64(in.channels/groups), float64(kernel*kernel)
		params, err := p.addProduct(name, init, float64(per)*places, float64(out/groups)*places, bias, int64(out), per,
			kernel, kernel)
		if err != nil {
			return in, err
		}
		attributes := w.kernelAttributes()
		if groups > 1 {
			attributes = append(attributes, graph.Int("group", int64(groups)))
		}
		return value{
			p.addNode(name, "Conv", append([]string{in.tensor}, params...), attributes...),
			out,
			side,
			false,
		}, nil
	}, k.err
}

// window describes how a square kernel moves over maps.
type window struct{ kernel, stride, pad int }

// layerWindow reads kernel, stride and pad. If usual is 0, the default stride is the kernel's size.
func (s *section) layerWindow(usual int) window {
	w := window{kernel: s.readInteger("kernel", 0, 1, maxSide)}
	usual = cmp.Or(usual, w.kernel)
	w.stride = s.readInteger("stride", usual, 1, maxSide)
	if p, ok := s.of["pad"]; ok && p.node.GetToken().Value == "same" {
		if w.kernel%2 == 0 {
			s.failSection(p.errorHere("same needs an odd kernel, found %d", w.kernel))
		}
		w.pad = (w.kernel - 1) / 2
		return w
	}
	w.pad = s.readInteger("pad", 0, 0, w.kernel-1)
	return w
}

// windowsAlong returns how many windows fit along a side: ⌊(side + 2·pad - kernel)/stride⌋ + 1.
func (w window) windowsAlong(in value) (int, error) {
	if in.flat {
		return 0, fmt.Errorf("found %v, expected maps", in)
	}
	room := in.side + 2*w.pad - w.kernel
	if room < 0 {
		return 0, fmt.Errorf("a kernel of %d on %v with padding %d: it does not fit", w.kernel, in, w.pad)
	}
	return room/w.stride + 1, nil
}

func (w window) kernelAttributes() []*graph.Attribute {
	k, s, p := int64(w.kernel), int64(w.stride), int64(w.pad)
	return []*graph.Attribute{graph.Ints("kernel_shape", k, k), graph.Ints("pads", p, p, p, p),
		graph.Ints("strides", s, s)}
}

// newLinearLayer is a matrix product with bias.
func newLinearLayer(s part, _ int) (layer, error) {
	k := s.readKeys("out", "bias", "init")
	out, bias, init := k.readInteger("out", 0, 1, maxChannels), k.readBool("bias", true), ownInit(k)
	return func(p *plan, in value) (value, error) {
		if !in.flat {
			return in, fmt.Errorf("found %v, expected a vector: flatten or global_average_pool first", in)
		}
		name := p.nextLayerName("linear")
		params, err := p.addProduct(
			name,
			init,
			float64(in.channels),
			float64(out),
			bias,
			int64(out),
			int64(in.channels),
		)
		return value{p.addNode(name, "Gemm", append([]string{in.tensor}, params...), graph.Int("transB", 1)), out, 0,
			true}, err
	}, k.err
}

// newPool takes the maximum or the mean of windows; the mean ignores padding.
func newPool(s part, op string) (layer, error) {
	k := s.readKeys("kernel", "stride", "pad")
	w := k.layerWindow(0)
	return func(p *plan, in value) (value, error) {
		side, err := w.windowsAlong(in)
		if err != nil {
			return in, err
		}
		return value{
			p.addNode(p.nextLayerName("pool"), op, []string{in.tensor}, w.kernelAttributes()...),
			in.channels,
			side,
			false,
		}, nil
	}, k.err
}
