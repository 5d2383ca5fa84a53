package graph

import "slices"

// Sized returns a model whose image input takes images of another size. Shapes that the file declares for other tensors
// depend on the old size; they are removed and can be inferred again. The caller must check that the network works at
// the new size: a network that averages over all places does, a network with separate weights for each place does not.
func Sized(m *Model, input string, planes, high, wide int) *Model {
	return restateInput(m, input, func(s Shape) {
		if !s[0].Known() && s[0].Name == "" {
			s[0] = Free(images) // the name identifies tensors with one row per image
		}
		s[1], s[2], s[3] = Fixed(int64(planes)), Fixed(int64(high)), Fixed(int64(wide))
	})
}

// images is the name of a free batch size.
const images = "images"

// ChannelsFirst returns a model that takes images of one or three colours as float32 [N,C,H,W]. The original may take
// [N,H,W,C], the layout of exported TensorFlow networks, or float16, bfloat16 or float64. The new input has another
// name and is transposed and cast before the old graph. If the file begins with a Transpose, the two cancel each
// other, and runtimes remove both.
func ChannelsFirst(m *Model) *Model {
	inputs := m.Graph.DataInputs()
	if len(inputs) != 1 || !inputs[0].Type.Floating() || len(inputs[0].Shape) != 4 {
		return m
	}
	in, s := inputs[0], inputs[0].Shape
	last := s[3] == Fixed(3) && s[1] != Fixed(3) || s[3] == Fixed(1) && s[1] != Fixed(1) && s[1] != Fixed(3)
	if !last && in.Type == Float32 {
		return m
	}
	b := Extend(m)
	g := b.m.Graph
	g.Inputs = filterList(g.Inputs, func(v *ValueInfo) bool { return v != in })
	nodes := g.Nodes
	g.Nodes = nil
	suffix := "_float32"
	if last {
		s, suffix = Shape{s[0], s[3], s[1], s[2]}, "_first"
	}
	x := b.Input(in.Name+suffix, Float32, s)
	to := func(cast bool) string { // output of the node: the old input, unless a cast follows
		if cast {
			return b.Fresh(in.Name + "_last")
		}
		return in.Name
	}
	if last {
		x = b.NodeTo(to(in.Type != Float32), "Transpose", []string{x}, Ints("perm", 0, 2, 3, 1))
	}
	if in.Type != Float32 {
		b.NodeTo(in.Name, "Cast", []string{x}, Int("to", int64(in.Type)))
	}
	g.Nodes = append(g.Nodes, nodes...)
	return b.Model()
}

// restateInput returns the model with a changed shape of its four-dimensional input. Shapes that depend on the input
// are removed.
func restateInput(m *Model, input string, change func(Shape)) *Model {
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
