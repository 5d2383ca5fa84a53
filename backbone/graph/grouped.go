package graph

// Grouped returns a network that takes batches of exactly n images, [n,…], as one that takes a single group of them,
// [1,n,…], and computes their vectors side by side, [1,n·D]. Names of weights are kept. It also returns the name of the
// new output.
func Grouped(m *Model, output string) (*Model, string) {
	b := Extend(m)
	g := b.m.Graph
	in := m.Graph.DataInputs()[0]
	g.Inputs = filterList(g.Inputs, func(v *ValueInfo) bool { return v != in })
	nodes := g.Nodes
	g.Nodes = nil
	sizes := make([]int64, len(in.Shape))
	for i, d := range in.Shape {
		sizes[i] = d.Size
	}
	x := b.Input(b.Fresh(in.Name+"_group"), in.Type, append(Shape{Fixed(1)}, in.Shape...))
	b.NodeTo(in.Name, "Reshape", []string{x, b.Constant(NewTensor(b.Fresh("group_sizes"), sizes, int64(len(sizes))))})
	g.Nodes = append(g.Nodes, nodes...)
	out := b.Node("Reshape", []string{output, b.Constant(NewTensor(b.Fresh("group_row"), []int64{1, -1}, 2))})
	b.SetOutputs(out)
	return b.Model(), out
}
