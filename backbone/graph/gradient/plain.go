package gradient

import (
	"slices"

	"winnow/backbone/graph"
)

// Plain returns the model in the form that is trained: every Identity of an initializer is replaced by a separate
// initializer. Names of weights do not change.
//
// Exporters merge equal constants, for example in a freshly initialised network, and add Identity nodes to the
// remaining constant. If such a model were trained, all its biases would stay equal, and the statistics would change
// with them. Several nodes read a weight that is shared on purpose without an Identity; it stays shared.
func Plain(m *graph.Model) *graph.Model {
	made := map[string]*graph.Tensor{}
	for _, t := range m.Graph.Initializers {
		made[t.Name] = t
	}
	results := map[string]bool{}
	for _, v := range m.Graph.Outputs {
		results[v.Name] = true
	}
	c, g := *m, *m.Graph
	c.Graph = &g
	g.Nodes, g.Initializers = nil, slices.Clone(g.Initializers)
	for _, n := range m.Graph.Nodes {
		if n.Op != "Identity" || !graph.IsONNX(n.Domain) || len(n.Inputs) != 1 || len(n.Outputs) != 1 ||
			made[n.Inputs[0]] == nil || results[n.Outputs[0]] {
			g.Nodes = append(g.Nodes, n)
			continue
		}
		t := *made[n.Inputs[0]]
		t.Name = n.Outputs[0]
		made[t.Name] = &t
		g.Initializers = append(g.Initializers, &t)
		if m.IRVersion < 4 {
			g.Inputs = append(slices.Clip(g.Inputs),
				&graph.ValueInfo{Name: t.Name, Type: t.Type, Shape: graph.ShapeOf(t.Dims...)})
		}
	}
	return &c
}
