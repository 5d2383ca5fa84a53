package main

import (
	"fmt"

	"winnow/graph"
)

// Names of the shipped model's two ends.
const (
	inputName  = "input"
	outputName = "features"
)

// export writes the network up to its features as ONNX, without the classifier. The normalisations are
// folded into the convolutions before them:
//
//	W'_o = f_o·W_o,  b_o = β_o - f_o·μ_o,  f_o = γ_o/√(σ²_o + ε)
func export(m *net, side, channels int) *graph.Model {
	g := &graph.Graph{Name: "glyphnet",
		Inputs:  []*graph.ValueInfo{{Name: inputName, Type: graph.Float32, Shape: graph.Shape{graph.Free("N"), graph.Fixed(int64(channels)), graph.Fixed(int64(side)), graph.Fixed(int64(side))}}},
		Outputs: []*graph.ValueInfo{{Name: outputName, Type: graph.Float32, Shape: graph.Shape{graph.Free("N"), graph.Fixed(int64(m.dim))}}},
	}
	at := inputName
	for i, c := range m.convs {
		at = exportBlock(g, c, m.norms[i], at)
	}
	g.Nodes = append(g.Nodes,
		&graph.Node{Name: "average", Op: "GlobalAveragePool", Inputs: []string{at}, Outputs: []string{"averaged"}},
		&graph.Node{Name: "flatten", Op: "Flatten", Inputs: []string{"averaged"}, Outputs: []string{outputName}, Attributes: []*graph.Attribute{graph.Int("axis", 1)}})
	return &graph.Model{IRVersion: 7, Producer: "winnow/internal/glyphnet", Opsets: []graph.Opset{{Version: 13}}, Graph: g,
		Doc: "Characters of 32×32 pixels to vectors; trained on characters that the dataset glyphs does not contain. Input: (grey/255 - 0.5)/0.25."}
}

// exportBlock appends Conv and Relu and returns the name of their output.
func exportBlock(g *graph.Graph, c *conv, b *norm, from string) string {
	weight, bias := folded(c, b)
	k, pad := int64(c.kernel), int64(c.kernel-1)/2
	g.Initializers = append(g.Initializers,
		graph.NewTensor(c.name+".weight", weight, int64(c.out), int64(c.in), k, k),
		graph.NewTensor(c.name+".bias", bias, int64(c.out)))
	g.Nodes = append(g.Nodes,
		&graph.Node{Name: c.name, Op: "Conv", Inputs: []string{from, c.name + ".weight", c.name + ".bias"}, Outputs: []string{c.name + ".sum"},
			Attributes: []*graph.Attribute{graph.Ints("kernel_shape", k, k), graph.Ints("pads", pad, pad, pad, pad), graph.Ints("strides", int64(c.stride), int64(c.stride))}},
		&graph.Node{Name: c.name + ".relu", Op: "Relu", Inputs: []string{c.name + ".sum"}, Outputs: []string{c.name + ".out"}})
	return c.name + ".out"
}

// folded is the weight in ONNX's order (out, in, row, column) and the bias, with the running averages.
func folded(c *conv, b *norm) (weight, bias []float32) {
	b.useAverages()
	factor, bias := b.affine()
	weight = make([]float32, len(c.weight.Data))
	places := c.kernel * c.kernel
	for place := range places {
		for in := range c.in {
			for out, f := range factor {
				weight[(out*c.in+in)*places+place] = f * c.weight.Data[(place*c.in+in)*c.out+out]
			}
		}
	}
	return weight, bias
}

// maxBytes bounds the shipped file.
const maxBytes = 2 << 20

// marshal is the checked bytes of the exported network.
func marshal(m *net, side, channels int) ([]byte, error) {
	model := export(m, side, channels)
	if err := model.Check(); err != nil {
		return nil, fmt.Errorf("glyphnet: %w", err)
	}
	data := model.Marshal()
	if len(data) > maxBytes {
		return nil, fmt.Errorf("glyphnet: model: found %d bytes, expected at most %d", len(data), maxBytes)
	}
	return data, nil
}
