package graph

import "slices"

// Sized returns a model whose image input takes pictures of another size. Shapes that the file states for other
// tensors follow from the old size and are removed; inference derives them again. The caller must make sure
// that the network still makes sense: one that averages over all places does, one with separate weights for
// each place does not.
func Sized(m *Model, input string, planes, side int) *Model {
	return restated(m, input, func(s Shape) {
		if !s[0].Known() && s[0].Name == "" {
			s[0] = Free(images) // the name identifies tensors with one row per image
		}
		s[1], s[2], s[3] = Fixed(int64(planes)), Fixed(int64(side)), Fixed(int64(side))
	})
}

// images is the name of a free batch size.
const images = "images"

// FreeBatch returns a model whose image input takes any number of images instead of a fixed one. Shapes that
// the file states for other tensors are removed, as in [Sized]. If the network contains the old number
// elsewhere, for example in the target of a Reshape, the first size of its outputs differs from that of its
// input; the caller must check this.
func FreeBatch(m *Model, input string) *Model {
	return restated(m, input, func(s Shape) { s[0] = Free(images) })
}

// ChannelsFirst returns a model that takes images of three colours as [N,C,H,W] instead of [N,H,W,C], the
// layout in which exporters of TensorFlow networks leave them. Its input has another name and is transposed
// before the old graph. If the file begins with a Transpose, the two cancel and runtimes drop both.
func ChannelsFirst(m *Model) *Model {
	inputs := m.Graph.DataInputs()
	if len(inputs) != 1 || inputs[0].Type != Float32 || len(inputs[0].Shape) != 4 {
		return m
	}
	in, s := inputs[0], inputs[0].Shape
	if s[3] != Fixed(3) || s[1] == Fixed(3) {
		return m
	}
	b := Extend(m)
	g := b.m.Graph
	g.Inputs = filter(g.Inputs, func(v *ValueInfo) bool { return v != in })
	nodes := g.Nodes
	g.Nodes = nil
	b.NodeTo(in.Name, "Transpose", []string{b.Input(in.Name+"_first", Float32, Shape{s[0], s[3], s[1], s[2]})},
		Ints("perm", 0, 2, 3, 1))
	g.Nodes = append(g.Nodes, nodes...)
	return b.Model()
}

// restated returns the model with a changed shape of its four-dimensional input, and of everything that follows
// from it.
func restated(m *Model, input string, change func(Shape)) *Model {
	c := Extend(m).Model()
	g := c.Graph
	for i, in := range g.Inputs {
		if in.Name == input && len(in.Shape) == 4 {
			v := *in
			v.Shape = slices.Clone(in.Shape)
			change(v.Shape)
			g.Inputs[i] = &v
		}
	}
	g.ValueInfo = nil
	for i, out := range g.Outputs {
		v := *out
		v.Shape = nil
		g.Outputs[i] = &v
	}
	facts := Infer(c)
	for i, out := range g.Outputs {
		if found := facts[out.Name]; found != nil {
			g.Outputs[i] = found
		}
	}
	return c
}
