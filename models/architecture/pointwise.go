package architecture

import (
	"fmt"

	"winnow/backbone/graph"
)

// norm is batch normalisation over maps or vectors. It starts with the given scale, shift 0, mean 0 and variance 1.
// A scale of 0 makes a residual's branch start as zero: Goyal et al., "Accurate, Large Minibatch SGD", 2017,
// section 5.1.
func norm(s part, _ int) (layer, error) {
	k := s.keys("scale", "epsilon", "momentum")
	scale, epsilon, momentum := k.number("scale", 1), k.number("epsilon", 1e-5), k.number("momentum", 0.9)
	if epsilon <= 0 || momentum < 0 || momentum >= 1 {
		k.fail(s.errorf("found epsilon %v and momentum %v, expected a positive epsilon and a momentum (the share "+
			"of the old statistics that is kept) from 0 to below 1", epsilon, momentum))
	}
	return func(p *plan, in value) (value, error) {
		name := p.next("norm")
		inputs := []string{in.tensor}
		for _, part := range []struct {
			name  string
			start float32
		}{{"scale", float32(scale)}, {"shift", 0}, {"mean", 0}, {"variance", 1}} {
			tensor, err := p.constant(name+"."+part.name, part.start, int64(in.channels))
			if err != nil {
				return in, err
			}
			inputs = append(inputs, tensor)
		}
		in.tensor = p.node(name, "BatchNormalization", inputs, graph.Float("epsilon", float32(epsilon)),
			graph.Float("momentum", float32(momentum)))
		return in, nil
	}, k.err
}

func relu(s part, _ int) (layer, error) {
	return func(p *plan, in value) (value, error) {
		in.tensor = p.node(p.next("relu"), "Relu", []string{in.tensor})
		return in, nil
	}, s.keys().err
}

// prelu is a rectifier with a trained slope below 0, one per channel.
func prelu(s part, _ int) (layer, error) {
	k := s.keys("slope")
	start := k.number("slope", 0.25)
	return func(p *plan, in value) (value, error) {
		dims := []int64{int64(in.channels), 1, 1}
		if in.flat {
			dims = dims[:1]
		}
		name := p.next("prelu")
		slope, err := p.constant(name+".slope", float32(start), dims...)
		in.tensor = p.node(name, "PRelu", []string{in.tensor, slope})
		return in, err
	}, k.err
}

func flatten(s part, _ int) (layer, error) { return flattened, s.keys().err }

func flattened(p *plan, in value) (value, error) {
	n := in.channels * in.side * in.side
	if in.flat || n > maxVector {
		return in, fmt.Errorf("found %v, expected maps of at most %d numbers", in, maxVector)
	}
	return value{p.node(p.next("flatten"), "Flatten", []string{in.tensor}, graph.Int("axis", 1)), n, 0, true}, nil
}

// globalPool is the mean of each map, as a vector.
func globalPool(s part, _ int) (layer, error) {
	return func(p *plan, in value) (value, error) {
		if in.flat {
			return in, fmt.Errorf("found %v, expected maps", in)
		}
		in.tensor, in.side = p.node(p.next("average"), "GlobalAveragePool", []string{in.tensor}), 1
		return flattened(p, in)
	}, s.keys().err
}
