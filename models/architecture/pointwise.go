package architecture

import (
	"fmt"

	"winnow/graph"
)

// norm is batch normalisation over maps or vectors. It starts with scale (0 makes a residual's branch start as
// nothing: Goyal et al., "Accurate, Large Minibatch SGD", 2017, section 5.1), shift 0, mean 0 and variance 1.
type norm struct{ scale, epsilon, momentum float64 }

func readNorm(s part, _ int) (layer, error) {
	k, err := s.keys("scale", "epsilon", "momentum")
	if err != nil {
		return nil, err
	}
	n := &norm{}
	if n.scale, err = k.number("scale", 1); err != nil {
		return nil, err
	}
	if n.epsilon, err = k.number("epsilon", 1e-5); err != nil {
		return nil, err
	}
	if n.momentum, err = k.number("momentum", 0.9); err != nil {
		return nil, err
	}
	if n.epsilon <= 0 || n.momentum < 0 || n.momentum >= 1 {
		return nil, s.errorf("found epsilon %v and momentum %v, expected a positive epsilon and a momentum (the share of the old statistics that stays) from 0 to below 1", n.epsilon, n.momentum)
	}
	return n, nil
}

func (n *norm) build(p *plan, in value) (value, error) {
	name := p.next("norm")
	inputs := []string{in.tensor}
	for _, part := range []struct {
		name  string
		start float32
	}{{"scale", float32(n.scale)}, {"shift", 0}, {"mean", 0}, {"variance", 1}} {
		tensor, err := p.constant(name+"."+part.name, part.start, int64(in.channels))
		if err != nil {
			return in, err
		}
		inputs = append(inputs, tensor)
	}
	in.tensor = p.node(name, "BatchNormalization", inputs, graph.Float("epsilon", float32(n.epsilon)), graph.Float("momentum", float32(n.momentum)))
	return in, nil
}

type relu struct{}

func readRelu(s part, _ int) (layer, error) {
	_, err := s.keys()
	return relu{}, err
}

func (relu) build(p *plan, in value) (value, error) {
	in.tensor = p.node(p.next("relu"), "Relu", []string{in.tensor})
	return in, nil
}

// prelu is a rectifier whose slope below 0 is trained, one a channel.
type prelu struct{ slope float64 }

func readPrelu(s part, _ int) (layer, error) {
	k, err := s.keys("slope")
	if err != nil {
		return nil, err
	}
	l := &prelu{}
	l.slope, err = k.number("slope", 0.25)
	return l, err
}

func (l *prelu) build(p *plan, in value) (value, error) {
	dims := []int64{int64(in.channels), 1, 1}
	if in.flat {
		dims = dims[:1]
	}
	name := p.next("prelu")
	slope, err := p.constant(name+".slope", float32(l.slope), dims...)
	in.tensor = p.node(name, "PRelu", []string{in.tensor, slope})
	return in, err
}

type flatten struct{}

func readFlatten(s part, _ int) (layer, error) {
	_, err := s.keys()
	return flatten{}, err
}

func (flatten) build(p *plan, in value) (value, error) {
	n := in.channels * in.side * in.side
	if in.flat || n > maxVector {
		return in, fmt.Errorf("found %v, expected maps of at most %d numbers", in, maxVector)
	}
	return value{p.node(p.next("flatten"), "Flatten", []string{in.tensor}, graph.Int("axis", 1)), n, 0, true}, nil
}

// globalPool is the mean of each map, as a vector.
type globalPool struct{}

func readGlobalPool(s part, _ int) (layer, error) {
	_, err := s.keys()
	return globalPool{}, err
}

func (globalPool) build(p *plan, in value) (value, error) {
	if in.flat {
		return in, fmt.Errorf("found %v, expected maps", in)
	}
	in.tensor, in.side = p.node(p.next("average"), "GlobalAveragePool", []string{in.tensor}), 1
	return flatten{}.build(p, in)
}
