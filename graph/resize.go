package graph

import (
	"fmt"
	"slices"
)

// Resized is a model that takes images of another size: height and width of the input are replaced, and what
// the file states about the sizes in between is dropped, to be inferred anew. A convolutional network that
// averages over all places before its feature vector takes any size it does not shrink away; one that flattens
// places into the vector, pools by a fixed window or adds position embeddings does not, and is refused.
func Resized(m *Model, input, output string, height, width int64) (*Model, error) {
	before := Infer(m)[output]
	c := *m
	g := *m.Graph
	c.Graph = &g
	g.Inputs, g.Outputs, g.ValueInfo = slices.Clone(g.Inputs), slices.Clone(g.Outputs), nil
	at := slices.IndexFunc(g.Inputs, func(v *ValueInfo) bool { return v.Name == input })
	if at < 0 || len(g.Inputs[at].Shape) != 4 {
		return nil, fmt.Errorf("graph: input %q: found no images [N,C,H,W] of that name", input)
	}
	in := *g.Inputs[at]
	was := in.Shape
	in.Shape = Shape{was[0], was[1], Fixed(height), Fixed(width)}
	g.Inputs[at] = &in
	for i, v := range g.Outputs { // only the type still holds
		g.Outputs[i] = &ValueInfo{Name: v.Name, Type: v.Type, typeRest: v.typeRest}
	}
	after := Infer(&c)[output]
	if before == nil || after == nil || len(before.Shape) == 0 || !slices.EqualFunc(before.Shape, after.Shape, Dim.alike) {
		return nil, fmt.Errorf("graph: input %q: the model is made for %v×%v and cannot take %d×%d: %q would no longer be %v",
			input, was[2], was[3], height, width, output, shapeOf(before))
	}
	for i, v := range g.Outputs {
		g.Outputs[i].Shape = Infer(&c)[v.Name].Shape
	}
	return &c, nil
}

// alike reports whether two sizes are the same number or both free.
func (d Dim) alike(e Dim) bool { return d.Size == e.Size }

func shapeOf(v *ValueInfo) Shape {
	if v == nil {
		return nil
	}
	return v.Shape
}
