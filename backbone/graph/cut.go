package graph

import (
	"fmt"
	"slices"
	"strings"
)

// Cut reduces a model to the nodes needed for one tensor, which becomes the only output. The new model shares nodes
// and tensors with m. The output has the type and shape that the file declares or that are inferred.
func Cut(m *Model, tensor string) (*Model, error) {
	g := m.Graph
	if g.Producers()[tensor] == nil {
		return nil, fmt.Errorf("graph: tensor %q: no node makes it: %s", tensor, g.suggestTensors(tensor))
	}
	nodes, needed := g.nodesBehind(tensor)
	kept := func(v *ValueInfo) bool { return needed[v.Name] }
	c := *m
	c.Graph = &Graph{
		Name: g.Name, Sparse: g.Sparse, Rest: g.Rest,
		Nodes:     nodes,
		Inputs:    filterList(g.Inputs, kept),
		ValueInfo: filterList(g.ValueInfo, func(v *ValueInfo) bool { return kept(v) && v.Name != tensor }),
		Outputs:   []*ValueInfo{describeTensor(Infer(m), tensor)},
	}
	c.Graph.Initializers = filterList(g.Initializers, func(t *Tensor) bool { return needed[t.Name] })
	return &c, nil
}

// nodesBehind returns the nodes needed to compute the given tensors, in the order of the graph, and the names of all
// tensors that these nodes read.
func (g *Graph) nodesBehind(tensors ...string) (nodes []*Node, needed map[string]bool) {
	needed = map[string]bool{}
	for _, name := range tensors {
		needed[name] = true
	}
	for _, n := range slices.Backward(g.Nodes) {
		if !slices.ContainsFunc(n.Outputs, func(out string) bool { return out != "" && needed[out] }) {
			continue
		}
		nodes = append(nodes, n)
		for _, name := range n.listUses() {
			needed[name] = true
		}
	}
	slices.Reverse(nodes)
	return nodes, needed
}

// describeTensor returns the type and shape of a tensor. An unknown type is declared float32, as usual for features.
func describeTensor(facts map[string]*ValueInfo, tensor string) *ValueInfo {
	v := facts[tensor]
	if v == nil {
		v = &ValueInfo{Name: tensor}
	}
	if v.Type == 0 && v.typeRest == nil {
		v.Type = Float32
	}
	return v
}

// listUses lists the tensors that a node reads, including those read by its subgraphs.
func (n *Node) listUses() []string {
	names := filterList(n.Inputs, func(name string) bool { return name != "" })
	for _, sub := range n.Subgraphs() {
		for _, inner := range sub.Nodes {
			// The result may include names that the subgraph defines itself, which is harmless.
			names = append(names, inner.listUses()...)
		}
		for _, out := range sub.Outputs {
			names = append(names, out.Name) // a branch may pass on an outer tensor
		}
	}
	return names
}

// suggestTensors lists the tensors that a user may have meant: those with the text in their names, or the last ones.
func (g *Graph) suggestTensors(tensor string) string {
	var like, all []string
	for _, n := range slices.Backward(g.Nodes) {
		for _, out := range n.Outputs {
			if out == "" {
				continue
			}
			all = append(all, out)
			if tensor != "" && strings.Contains(strings.ToLower(out), strings.ToLower(tensor)) {
				like = append(like, out)
			}
		}
	}
	if len(like) == 0 {
		like = all
	}
	if len(like) == 0 {
		return "the graph has no nodes"
	}
	return fmt.Sprintf("expected one like %q", like[:min(5, len(like))])
}

func filterList[T any](list []T, keep func(T) bool) []T {
	var kept []T
	for _, v := range list {
		if keep(v) {
			kept = append(kept, v)
		}
	}
	return kept
}
