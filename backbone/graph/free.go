package graph

import "slices"

// FreeBatch returns a model whose image input takes any number of images instead of a fixed number, if possible: in
// each Reshape whose constant target starts with the number, the target then keeps the first size of the input. Shapes
// that the file declares for other tensors are removed, as in [Sized].
//
// In some networks the first size of the outputs then differs from that of the input. The caller must check this, and
// that the model still computes the same numbers.
func FreeBatch(m *Model, input string) *Model {
	c := restateInput(m, input, func(s Shape) { s[0] = Free(images) })
	in := findValueInfo(m.Graph.Inputs, input)
	if in == nil || len(in.Shape) != 4 || !in.Shape[0].Known() || in.Shape[0].Size < 1 {
		return c
	}
	b := Extend(c)
	g := b.m.Graph
	constants := g.Constants()
	now := beginInference(b.m)
	for i, n := range g.Nodes {
		from := now.facts[n.Input(0)].shape
		if t := constants[n.Input(1)]; n.hasOp("Reshape") && t != nil && len(from) > 0 && from[0] == Free(images) {
			to, err := t.Int64s()
			if err == nil && len(to) > 0 && to[0] == in.Shape[0].Size {
				to[0] = 0
				n = &Node{Name: n.Name, Op: n.Op, Inputs: slices.Clone(n.Inputs), Outputs: n.Outputs}
				n.Inputs[1] = b.Constant(NewTensor("shape_of_images", to, int64(len(to))))
				now.facts[n.Inputs[1]] = factOf(b.m.Graph.Initializer(n.Inputs[1]))
				g.Nodes[i] = n
			}
		}
		now.followNode(n)
	}
	b.SetOutputs(outputNames(g)...)
	return b.Model()
}

func outputNames(g *Graph) (names []string) {
	for _, out := range g.Outputs {
		names = append(names, out.Name)
	}
	return names
}

// fixedSizes returns the sizes of a shape if all are known.
func fixedSizes(s Shape) ([]int64, bool) {
	out := make([]int64, len(s))
	for i, d := range s {
		if !d.Known() {
			return nil, false
		}
		out[i] = d.Size
	}
	return out, s != nil
}

func product64(list []int64) int64 {
	p := int64(1)
	for _, v := range list {
		p *= max(v, 1)
	}
	return p
}
