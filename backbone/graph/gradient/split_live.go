package gradient

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// liveModel builds the live model.
func (s *parting) liveModel(output string) (*graph.Model, error) {
	b := graph.Extend(s.m)
	g := b.Model().Graph
	nodes := g.Nodes
	g.Nodes = nil
	var inputs []*graph.ValueInfo
	for _, n := range nodes {
		for _, out := range n.Outputs {
			if s.crosses[out] {
				v := *s.facts[out]
				inputs = append(inputs, &v)
			}
		}
	}
	for _, in := range g.Inputs {
		if s.direct[in.Name] || g.Initializer(in.Name) != nil {
			inputs = append(inputs, in)
		}
	}
	g.Inputs = inputs
	count := "" // tensor with the number of images, created when a shape needs it
	for _, n := range nodes {
		switch {
		case s.shapes[n]:
			if err := s.writeShape(b, n, &count); err != nil {
				return nil, err
			}
		case s.live[n] || s.copied[n]:
			b.Add(n)
		}
	}
	g.Outputs = slices.Clone(g.Outputs)
	b.Prune([]string{output})
	s.dropInputs(b.Model())
	g.ValueInfo = slices.DeleteFunc(g.ValueInfo, func(v *graph.ValueInfo) bool { return s.crosses[v.Name] })
	return b.Model(), nil
}

// writeShape replaces the Shape of a frozen tensor by the number of images and the known sizes of the tensor.
func (s *parting) writeShape(b *graph.Builder, n *graph.Node, count *string) error {
	shape := s.facts[n.Inputs[0]].Shape
	var sizes []int64
	for _, d := range shape {
		sizes = append(sizes, d.Size)
	}
	out := n.Outputs[0]
	if isFixed(shape) {
		c := b.Constant(graph.NewTensor(out+"_sizes", sizes, int64(len(sizes))))
		b.NodeTo(out, "Identity", []string{c})
		return nil
	}
	if *count == "" {
		if err := s.countImages(b, count); err != nil {
			return err
		}
	}
	if len(sizes) == 1 {
		b.NodeTo(out, "Identity", []string{*count})
		return nil
	}
	rest := b.Constant(graph.NewTensor(out+"_sizes", sizes[1:], int64(len(sizes)-1)))
	b.NodeTo(out, "Concat", []string{*count, rest}, graph.Int("axis", 0))
	return nil
}

// countImages adds a list of one element with the number of images, taken from an input that has this size.
func (s *parting) countImages(b *graph.Builder, count *string) error {
	for _, in := range b.Model().Graph.Inputs {
		if s.crosses[in.Name] || s.direct[in.Name] && s.countsImages(in.Shape) {
			first := b.Constant(graph.NewTensor("first", []int64{0}, 1))
			*count = b.Node("Gather", []string{b.Node("Shape", []string{in.Name}), first}, graph.Int("axis", 0))
			return nil
		}
	}
	return fmt.Errorf("gradient: split: no input of the live part has the number of images among its sizes")
}

// dropInputs removes the inputs that no node reads.
func (s *parting) dropInputs(m *graph.Model) {
	used := map[string]bool{}
	for _, n := range m.Graph.Nodes {
		for _, in := range listReads(n) {
			used[in] = true
		}
	}
	m.Graph.Inputs = slices.DeleteFunc(m.Graph.Inputs, func(v *graph.ValueInfo) bool { return !used[v.Name] })
}
