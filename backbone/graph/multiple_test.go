package graph_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// TestMultiples: attention's sizes, with heads merged into the batch and split again, are tracked correctly.
func TestMultiples(t *testing.T) {
	b := graph.NewBuilder("heads", 13)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(5), graph.Fixed(8)})
	list := func(v ...int64) string { return b.Constant(graph.NewTensor("i", v, int64(len(v)))) }
	number := func(v int64) string { return b.Constant(graph.NewTensor("i", []int64{v})) }
	size := func(of string, axis int64) string { // a scalar, as exporters write it
		return b.Node("Gather", []string{b.Node("Shape", []string{of}), number(axis)}, graph.Int("axis", 0))
	}
	shape := func(scalars ...string) string {
		var parts []string
		for _, s := range scalars {
			parts = append(parts, b.Node("Unsqueeze", []string{s, list(0)}))
		}
		return b.Node("Concat", parts, graph.Int("axis", 0))
	}
	batch, long := size(x, 0), size(x, 1)
	heads := b.Node("Mul", []string{batch, number(2)})
	folded := b.Node("Reshape", []string{x, shape(heads, long, number(4))})
	rest := b.Node("Reshape", []string{folded, list(-1, 4)})
	rows := b.Node("Reshape", []string{folded, shape(number(-1), b.Node("Div", []string{heads, number(2)}))})
	back := b.Node("Reshape", []string{rest, shape(b.Node("Div", []string{heads, number(2)}), number(-1), number(8))})
	unknown := b.Node("Reshape", []string{rest, shape(b.Node("Div", []string{heads, number(3)}), number(-1))})
	tensors := map[string]graph.Shape{
		heads:  {},
		folded: {graph.Free("2*N"), graph.Fixed(5), graph.Fixed(4)},
		rest:   {graph.Free("10*N"), graph.Fixed(4)},
		rows:   {graph.Fixed(40), graph.Free("N")},
		back:   {graph.Free("N"), graph.Fixed(5), graph.Fixed(8)},
	}
	var names []string
	for name := range tensors {
		names = append(names, name)
	}
	b.SetOutputs(names...)
	m := b.Model()
	facts := graph.Infer(m)
	if s := facts[unknown].Shape; len(s) != 2 || s[0] != graph.Free("") || s[1] != graph.Free("") {
		t.Errorf("two thirds of a batch: inferred %v, expected nothing", s)
	}
	for i, got := range exec(t, m, ort.Float32s(numbers(1, 6*40), 6, 5, 8)) {
		want := tensors[names[i]]
		if s := facts[names[i]].Shape; s.String() != want.String() || s == nil {
			t.Errorf("%s: inferred %v, expected %v", names[i], s, want)
		}
		compareShape(t, facts[names[i]], names[i], got.Shape, map[string]int64{"N": 6, "2*N": 12, "10*N": 60}, true)
	}
}
