package graph_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/graph"
)

func valuesModel() *graph.Model {
	b := graph.NewBuilder("values", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2)})
	w := b.Constant(graph.NewTensor("w", []float32{1, 2, 3, 4}, 2, 2))
	i := b.Constant(graph.NewTensor("i", []int64{1}))
	c := b.Fresh("c")
	b.Add(&graph.Node{Op: "Constant", Outputs: []string{c},
		Attributes: []*graph.Attribute{graph.TensorValue("value", graph.NewTensor("", []float32{5, 6}, 2))}})
	f := b.Fresh("f")
	b.Add(&graph.Node{Op: "Constant", Outputs: []string{f},
		Attributes: []*graph.Attribute{graph.Float("value_float", 7)}})
	y := b.Node("Mul", []string{b.Node("Add", []string{b.Node("MatMul", []string{x, w}), c}), f})
	b.Output(b.NodeTo("y", "Gather", []string{y, i}, graph.Int("axis", 0)))
	return b.Model()
}

func TestWithValues(t *testing.T) {
	m := valuesModel()
	before := m.Marshal()
	got, err := graph.WithValues(m, map[string][]float32{"w": {4, 3, 2, 1}, "c": {-1, -2}, "f": {9}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, m.Marshal()) {
		t.Error("the model itself was changed")
	}
	read, err := graph.Read(got.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Check(); err != nil {
		t.Fatal(err)
	}
	found := map[string][]float32{}
	for _, n := range read.Graph.Nodes {
		if c := n.ConstantValue(); c != nil {
			found[c.Name], _ = c.Float32s()
		}
	}
	w := read.Graph.Initializer("w")
	found["w"], _ = w.Float32s()
	constants := read.Graph.Constants() // initializers and Constant nodes
	if len(constants) != 4 || constants["i"] == nil {
		t.Errorf("found %d constants, expected w, i, c and f", len(constants))
	}
	for name, want := range found {
		if got, _ := constants[name].Float32s(); !slices.Equal(got, want) {
			t.Errorf("constant %s is %v, expected %v", name, got, want)
		}
	}
	if diff := cmp.Diff(map[string][]float32{"w": {4, 3, 2, 1}, "c": {-1, -2}, "f": {9}}, found); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{2, 2}, w.Dims); diff != "" {
		t.Error(diff)
	}
	same, err := graph.WithValues(m, nil)
	if err != nil || !bytes.Equal(same.Marshal(), before) {
		t.Errorf("no values give another model (%v)", err)
	}
}

func TestWithValuesRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float32
		want   string
	}{
		{"nothing", []float32{1}, `"nothing"`}, {"w", []float32{1, 2, 3}, "found 3 values"},
		{"i", []float32{1}, "int64"},
		{"c", []float32{1}, "found 1 values"}, {"y", []float32{1}, `"y"`},
	} {
		if _, err := graph.WithValues(valuesModel(), map[string][]float32{c.name: c.values}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.want)
		}
	}
}
