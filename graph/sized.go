package graph

import "slices"

// Sized returns a model whose image input takes pictures of another size. What the file says of the shapes of other
// tensors followed from the old one and is left out; inference derives it again. Whether the network then computes
// anything sensible is for the caller to see: one that averages over all places does, one that multiplies each
// place by weights of its own does not.
func Sized(m *Model, input string, planes, side int) *Model {
	return restated(m, input, func(s Shape) {
		if !s[0].Known() && s[0].Name == "" {
			s[0] = Free(images) // by its name a tensor of one row an image is told from others
		}
		s[1], s[2], s[3] = Fixed(int64(planes)), Fixed(int64(side)), Fixed(int64(side))
	})
}

// images names the size of a batch that may be any.
const images = "images"

// FreeBatch returns a model whose image input takes any number of images where it took a fixed one. What the file says of the
// shapes of other tensors is left out, as by [Sized]. A network that holds the old number elsewhere too, as in the target
// of a Reshape, has outputs whose first size is not that of its input: that is for the caller to see.
func FreeBatch(m *Model, input string) *Model {
	return restated(m, input, func(s Shape) { s[0] = Free(images) })
}

// ChannelsFirst returns a model that takes images of three colours as [N,C,H,W] where it took them as [N,H,W,C], as exporters of
// TensorFlow's networks leave them: its input, of another name, is turned before what there was. A Transpose that such a
// file begins with turns it back; runtimes drop both.
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

// restated returns the model with another shape of its input of four sizes, and of all that follows from it.
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
