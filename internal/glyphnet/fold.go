package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"winnow/backbone/graph"
)

// foldNormalizations removes the BatchNormalization nodes of a model. Each is merged into the convolution before it,
// which nothing else may read, with the current running statistics:
//
//	W'_o = f_o·W_o,  b'_o = f_o·(b_o - μ_o) + β_o,  f_o = γ_o/√(σ²_o + ε)
//
// The convolution's output gets the normalisation's name, and its weights the name of their stage:
// block1.weight, block1.bias. Computed in float64, rounded once.
func foldNormalizations(m *graph.Model) (*graph.Model, error) {
	b := graph.Extend(m)
	g := b.Model().Graph
	nodes := g.Nodes
	g.Nodes = nil
	for _, n := range nodes {
		if n.Op != "BatchNormalization" {
			b.Add(n)
			continue
		}
		at := slices.IndexFunc(g.Nodes, func(c *graph.Node) bool { return c.Outputs[0] == n.Inputs[0] })
		users := 0
		for _, user := range nodes {
			if slices.Contains(user.Inputs, n.Inputs[0]) {
				users++
			}
		}
		if at < 0 || g.Nodes[at].Op != "Conv" || users != 1 {
			return nil, fmt.Errorf("glyphnet: fold: node %q normalises %q, "+
				"expected a convolution's output that it alone reads", n.Name, n.Inputs[0])
		}
		conv := *g.Nodes[at]
		weight, bias, err := foldIntoConv(g, &conv, n)
		if err != nil {
			return nil, fmt.Errorf("glyphnet: fold: node %q: %w", n.Name, err)
		}
		conv.Inputs = []string{conv.Inputs[0], b.Constant(weight), b.Constant(bias)}
		conv.Outputs = n.Outputs[:1]
		g.Nodes[at] = &conv
	}
	b.Prune([]string{g.Outputs[0].Name})
	return b.Model(), nil
}

// foldIntoConv returns the weight and bias of a convolution that includes the following normalisation.
func foldIntoConv(g *graph.Graph, conv, norm *graph.Node) (weight, bias *graph.Tensor, err error) {
	read := func(name string) (values []float32) {
		t := g.Initializer(name)
		if t == nil && err == nil {
			err = fmt.Errorf("%q: expected an initializer", name)
		}
		if err == nil {
			values, err = t.Float32s()
		}
		return values
	}
	w, scale, shift := read(conv.Inputs[1]), read(norm.Inputs[1]), read(norm.Inputs[2])
	mean, variance := read(norm.Inputs[3]), read(norm.Inputs[4])
	own := make([]float32, len(scale))
	if len(conv.Inputs) > 2 {
		own = read(conv.Inputs[2])
	}
	if err != nil {
		return nil, nil, err
	}
	epsilon, b := float64(norm.Float("epsilon", 1e-5)), make([]float32, len(scale))
	size := len(w) / len(scale) // of one output channel
	for o := range scale {
		factor := float64(scale[o]) / math.Sqrt(float64(variance[o])+epsilon)
		for i := o * size; i < (o+1)*size; i++ {
			w[i] = float32(factor * float64(w[i]))
		}
		b[o] = float32(factor*(float64(own[o])-float64(mean[o])) + float64(shift[o]))
	}
	dims, stage := g.Initializer(conv.Inputs[1]).Dims, conv.Name[:max(strings.LastIndexByte(conv.Name, '.'), 0)]
	return graph.NewTensor(stage+".weight", w, dims...), graph.NewTensor(stage+".bias", b, dims[0]), nil
}
