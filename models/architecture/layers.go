package architecture

import (
	"fmt"

	"winnow/graph"
)

// layer is one entry of a list of layers.
type layer interface {
	build(p *plan, in value) (value, error)
}

// kinds returns the layers by name. Adding one is a line here. (A function: lists of layers stand in layers.)
func kinds() map[string]func(s part, depth int) (layer, error) {
	return map[string]func(part, int) (layer, error){
		"conv": readConv, "linear": readLinear, "batch_norm": readNorm,
		"relu": readRelu, "prelu": readPrelu,
		"max_pool":     func(s part, _ int) (layer, error) { return readPool(s, "MaxPool") },
		"average_pool": func(s part, _ int) (layer, error) { return readPool(s, "AveragePool") },
		"flatten":      readFlatten, "global_average_pool": readGlobalPool,
		"residual": readResidual, "repeat": readRepeat, "stage": readStage,
	}
}

// conv is a square convolution.
type conv struct {
	out, kernel, stride, pad, groups int
	bias                             bool
	init                             *initializer
}

func readConv(s part, _ int) (layer, error) {
	k, err := s.keys("out", "kernel", "stride", "pad", "groups", "bias", "init")
	if err != nil {
		return nil, err
	}
	c := &conv{}
	if c.out, err = k.whole("out", 0, 1, maxChannels); err != nil {
		return nil, err
	}
	if c.kernel, c.stride, c.pad, err = k.window(1); err != nil {
		return nil, err
	}
	if c.groups, err = k.whole("groups", 1, 1, maxChannels); err != nil {
		return nil, err
	}
	if c.bias, err = k.yes("bias", true); err != nil {
		return nil, err
	}
	c.init, err = ownInit(k)
	return c, err
}

// window reads kernel, stride and pad; a stride of 0 by default means the kernel's size.
func (s section) window(usual int) (kernel, stride, pad int, err error) {
	if kernel, err = s.whole("kernel", 0, 1, maxSide); err != nil {
		return
	}
	if usual == 0 {
		usual = kernel
	}
	if stride, err = s.whole("stride", usual, 1, maxSide); err != nil {
		return
	}
	if p, ok := s.of["pad"]; ok && p.node.GetToken().Value == "same" {
		if kernel%2 == 0 {
			err = p.errorf("same needs an odd kernel, found %d", kernel)
		}
		return kernel, stride, (kernel - 1) / 2, err
	}
	pad, err = s.whole("pad", 0, 0, kernel-1)
	return
}

// ownInit returns a layer's own initialiser, nil for the network's.
func ownInit(s section) (*initializer, error) {
	if _, ok := s.of["init"]; !ok {
		return nil, nil
	}
	i, err := readInit(s, initializer{})
	return &i, err
}

func (c *conv) build(p *plan, in value) (value, error) {
	side, err := windows(in, c.kernel, c.stride, c.pad)
	if err != nil {
		return in, err
	}
	if in.channels%c.groups != 0 || c.out%c.groups != 0 {
		return in, fmt.Errorf("%d groups divide not both of %d channels in and %d out", c.groups, in.channels, c.out)
	}
	name, k := p.next("conv"), int64(c.kernel)
	per, places := int64(in.channels/c.groups), float64(k*k)
	params, err := p.product(name, c.chosen(p), float64(per)*places, float64(c.out/c.groups)*places, c.bias, int64(c.out), per, k, k)
	if err != nil {
		return in, err
	}
	attributes := windowAttributes(c.kernel, c.stride, c.pad)
	if c.groups > 1 {
		attributes = append(attributes, graph.Int("group", int64(c.groups)))
	}
	return value{p.node(name, "Conv", append([]string{in.tensor}, params...), attributes...), c.out, side, false}, nil
}

func (c *conv) chosen(p *plan) initializer {
	if c.init != nil {
		return *c.init
	}
	return p.init
}

// windows returns how many windows fit along a side: ⌊(side + 2·pad - kernel)/stride⌋ + 1.
func windows(in value, kernel, stride, pad int) (int, error) {
	if in.flat {
		return 0, fmt.Errorf("found %v, expected maps", in)
	}
	room := in.side + 2*pad - kernel
	if room < 0 {
		return 0, fmt.Errorf("a kernel of %d on %v with padding %d: it does not fit", kernel, in, pad)
	}
	return room/stride + 1, nil
}

func windowAttributes(kernel, stride, pad int) []*graph.Attribute {
	k, s, p := int64(kernel), int64(stride), int64(pad)
	return []*graph.Attribute{graph.Ints("kernel_shape", k, k), graph.Ints("pads", p, p, p, p), graph.Ints("strides", s, s)}
}

// linear is a matrix product with bias.
type linear struct {
	out  int
	bias bool
	init *initializer
}

func readLinear(s part, _ int) (layer, error) {
	k, err := s.keys("out", "bias", "init")
	if err != nil {
		return nil, err
	}
	l := &linear{}
	if l.out, err = k.whole("out", 0, 1, maxChannels); err != nil {
		return nil, err
	}
	if l.bias, err = k.yes("bias", true); err != nil {
		return nil, err
	}
	l.init, err = ownInit(k)
	return l, err
}

func (l *linear) build(p *plan, in value) (value, error) {
	if !in.flat {
		return in, fmt.Errorf("found %v, expected a vector: flatten or global_average_pool first", in)
	}
	init := p.init
	if l.init != nil {
		init = *l.init
	}
	name := p.next("linear")
	params, err := p.product(name, init, float64(in.channels), float64(l.out), l.bias, int64(l.out), int64(in.channels))
	return value{p.node(name, "Gemm", append([]string{in.tensor}, params...), graph.Int("transB", 1)), l.out, 0, true}, err
}

// pool takes the maximum or the mean of windows; the mean leaves padding out.
type pool struct {
	op                  string
	kernel, stride, pad int
}

func readPool(s part, op string) (layer, error) {
	k, err := s.keys("kernel", "stride", "pad")
	if err != nil {
		return nil, err
	}
	l := &pool{op: op}
	l.kernel, l.stride, l.pad, err = k.window(0)
	return l, err
}

func (l *pool) build(p *plan, in value) (value, error) {
	side, err := windows(in, l.kernel, l.stride, l.pad)
	if err != nil {
		return in, err
	}
	return value{p.node(p.next("pool"), l.op, []string{in.tensor}, windowAttributes(l.kernel, l.stride, l.pad)...), in.channels, side, false}, nil
}
