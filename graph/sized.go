package graph

import "slices"

// Sized returns a model whose image input takes pictures of another size. What the file says of the shapes of other
// tensors followed from the old one and is left out; inference derives it again. Whether the network then computes
// anything sensible is for the caller to see: one that averages over all places does, one that multiplies each
// place by weights of its own does not.
func Sized(m *Model, input string, planes, side int) *Model {
	c := Extend(m).Model()
	g := c.Graph
	for i, in := range g.Inputs {
		if in.Name == input && len(in.Shape) == 4 {
			v := *in
			v.Shape = slices.Clone(in.Shape)
			if !v.Shape[0].Known() && v.Shape[0].Name == "" {
				v.Shape[0] = Free("images") // by its name a tensor of one row an image is told from others
			}
			v.Shape[1], v.Shape[2], v.Shape[3] = Fixed(int64(planes)), Fixed(int64(side)), Fixed(int64(side))
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
