package architecture

import (
	"fmt"

	"winnow/backbone/graph"
)

// newNorm is batch normalisation over maps or vectors. It starts with the given scale, shift 0, mean 0 and variance 1.
// A scale of 0 makes a residual's branch start as zero: Goyal et al., "Accurate, Large Minibatch SGD", 2017,
// section 5.1.
func newNorm(s part, _ int) (layer, error) {
	k := s.readKeys("scale", "epsilon", "momentum")
	scale, epsilon, momentum := k.readFraction(
		"scale",
		1,
	), k.readFraction(
		"epsilon",
		1e-5,
	), k.readFraction(
		"momentum",
		0.9,
	)
	if epsilon <= 0 || momentum < 0 || momentum >= 1 {
		k.failSection(
			s.errorHere("found epsilon %v and momentum %v, expected a positive epsilon and a momentum (the share "+
				"of the old statistics that is kept) from 0 to below 1", epsilon, momentum),
		)
	}
	return func(p *plan, in value) (value, error) {
		name := p.nextLayerName("norm")
		inputs := []string{in.tensor}
		for _, part := range []struct {
			name  string
			start float32
		}{{"scale", float32(scale)}, {"shift", 0}, {"mean", 0}, {"variance", 1}} {
			tensor, err := p.addConstWeight(name+"."+part.name, part.start, int64(in.channels))
			if err != nil {
				return in, err
			}
			inputs = append(inputs, tensor)
		}
		in.tensor = p.addNode(name, "BatchNormalization", inputs, graph.Float("epsilon", float32(epsilon)),
			graph.Float("momentum", float32(momentum)))
		return in, nil
	}, k.err
}

func newRelu(s part, _ int) (layer, error) {
	return func(p *plan, in value) (value, error) {
		in.tensor = p.addNode(p.nextLayerName("relu"), "Relu", []string{in.tensor})
		return in, nil
	}, s.readKeys().err
}

// newPRelu is a rectifier with a trained slope below 0, one per channel.
func newPRelu(s part, _ int) (layer, error) {
	k := s.readKeys("slope")
	start := k.readFraction("slope", 0.25)
	return func(p *plan, in value) (value, error) {
		dims := []int64{int64(in.channels), 1, 1}
		if in.flat {
			dims = dims[:1]
		}
		name := p.nextLayerName("prelu")
		slope, err := p.addConstWeight(name+".slope", float32(start), dims...)
		in.tensor = p.addNode(name, "PRelu", []string{in.tensor, slope})
		return in, err
	}, k.err
}

func newFlatten(s part, _ int) (layer, error) { return flattenPlanes, s.readKeys().err }

func flattenPlanes(p *plan, in value) (value, error) {
	n := in.channels * in.side * in.side
	if in.flat || n > maxVector {
		return in, fmt.Errorf("found %v, expected maps of at most %d numbers", in, maxVector)
	}
	return value{
		p.addNode(p.nextLayerName("flatten"), "Flatten", []string{in.tensor}, graph.Int("axis", 1)),
		n,
		0,
		true,
	}, nil
}

// globalPool is the mean of each map, as a vector.
func globalPool(s part, _ int) (layer, error) {
	return func(p *plan, in value) (value, error) {
		if in.flat {
			return in, fmt.Errorf("found %v, expected maps", in)
		}
		in.tensor, in.side = p.addNode(p.nextLayerName("average"), "GlobalAveragePool", []string{in.tensor}), 1
		return flattenPlanes(p, in)
	}, s.readKeys().err
}
