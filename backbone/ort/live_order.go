package ort

import (
	"slices"

	"winnow/backbone/graph"
)

// inMemoryOrder rewrites a backward model so that ONNX Runtime executes it in an order that needs little memory.
//
// The runtime chooses its own order. It starts at nodes whose outputs are not read, the last in the file first, and
// proceeds depth first. A backward model as written ends with the first layer's gradient, which depends on the
// gradients of all activations: all of these would be computed and held before the first weight's gradient uses one.
// inMemoryOrder therefore moves the weights' gradients to the end of the file, the last layer's to the very end. Each
// is then computed as soon as its activation's gradient is known, and that gradient is freed. The runtime's graph
// optimisation would renumber the nodes and undo this, so it is switched off. It would gain little, because the rules
// already write fused operators.
//
// Measured peak memory of the process at batch 8 and 224²: MobileNetV2 798 MB → 682, ResNet-50 to its third
// stage 1655 MB → 1196, at the same speed.
func inMemoryOrder(m *graph.Model) *graph.Model {
	c := graph.Extend(m).Model()
	g := c.Graph
	withoutCopies(g)
	read := map[string]bool{}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			read[in] = true
		}
	}
	leaf := func(n *graph.Node) bool {
		return !slices.ContainsFunc(n.Outputs, func(out string) bool { return read[out] })
	}
	var inner, leaves []*graph.Node
	for _, n := range g.Nodes {
		if leaf(n) {
			leaves = append(leaves, n)
		} else {
			inner = append(inner, n)
		}
	}
	slices.Reverse(leaves)
	g.Nodes = append(inner, leaves...)
	return c
}

// withoutCopies removes an Identity between a gradient's node and an output, so that the node writes the output
// directly. The runtime would remove the Identity only after numbering the nodes.
func withoutCopies(g *graph.Graph) {
	uses := map[string]int{}
	for _, n := range g.Nodes {
		for _, in := range n.Inputs {
			uses[in]++
		}
	}
	outputs := map[string]bool{}
	for _, o := range g.Outputs {
		outputs[o.Name] = true
	}
	makers := g.Producers()
	dropped := map[*graph.Node]bool{}
	renamed := map[string]string{}
	for _, n := range g.Nodes {
		if n.Op != "Identity" || !outputs[n.Outputs[0]] {
			continue
		}
		from := n.Inputs[0]
		if makers[from] == nil || uses[from] != 1 || outputs[from] {
			continue
		}
		dropped[n], renamed[from] = true, n.Outputs[0]
	}
	var nodes []*graph.Node
	for _, n := range g.Nodes {
		if dropped[n] {
			continue
		}
		if slices.ContainsFunc(n.Outputs, func(out string) bool { return renamed[out] != "" }) {
			w := *n
			w.Outputs = slices.Clone(n.Outputs)
			for i, out := range w.Outputs {
				if to := renamed[out]; to != "" {
					w.Outputs[i] = to
				}
			}
			n = &w
		}
		nodes = append(nodes, n)
	}
	g.Nodes = nodes
}
