package graph

import (
	"slices"
)

// Known returns the elements of small integer tensors that do not depend on the inputs, mostly shapes and axes.
func Known(m *Model) map[string][]int64 {
	values := map[string][]int64{}
	for name, f := range inferModel(m) {
		if v, ok := knownValues(f.ints); ok {
			values[name] = v
		}
	}
	return values
}

// Reserve marks every name of another graph as taken, so that the two graphs use different names.
func (b *Builder) Reserve(g *Graph) { b.takeAll(g) }

// Import declares that the model uses an operator set of another domain.
func (b *Builder) Import(domain string, version int64) {
	for _, o := range b.m.Opsets {
		if o.Domain == domain {
			return
		}
	}
	b.m.Opsets = append(slices.Clone(b.m.Opsets), Opset{Domain: domain, Version: version})
}

// Prune removes the nodes and constants that the given tensors do not need.
func (b *Builder) Prune(tensors []string) {
	g := b.m.Graph
	nodes, needed := g.nodesBehind(tensors...)
	g.Nodes = nodes
	g.Initializers = filterList(g.Initializers, func(t *Tensor) bool { return needed[t.Name] })
}

// ConstantValue returns the tensor of a Constant node, named after the node's output. It returns nil for other nodes
// and for text or sparse constants.
func (n *Node) ConstantValue() *Tensor {
	if !n.hasOp("Constant") || len(n.Outputs) != 1 || len(n.Attributes) != 1 {
		return nil
	}
	name := n.Outputs[0]
	switch a := n.Attributes[0]; a.Name {
	case "value":
		if a.Tensor == nil {
			return nil
		}
		t := *a.Tensor
		t.Name = name
		return &t
	case "value_int":
		return NewTensor(name, []int64{a.Int})
	case "value_ints":
		return NewTensor(name, a.Ints, int64(len(a.Ints)))
	case "value_float":
		return NewTensor(name, []float32{a.Float})
	case "value_floats":
		return NewTensor(name, a.Floats, int64(len(a.Floats)))
	}
	return nil
}
