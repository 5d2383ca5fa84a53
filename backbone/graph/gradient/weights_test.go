package gradient_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// TestWeightsOfNetworks checks that Weights finds the weights for which torch has gradients.
func TestWeightsOfNetworks(t *testing.T) {
	for _, name := range networks(t) {
		t.Run(name, func(t *testing.T) {
			r := readRun(t, name)
			m := r.model(t)
			var found, want []string
			for _, w := range gradient.Weights(m, r.Output) {
				found = append(found, w.Name)
			}
			for _, w := range r.Weights {
				want = append(want, w.name)
			}
			slices.Sort(found)
			slices.Sort(want)
			if !slices.Equal(found, want) {
				t.Errorf("found\n%q, expected\n%q", found, want)
			}
		})
	}
}

// block builds a small network over three channels with each kind of constant.
func block() *graph.Model {
	b := graph.NewBuilder("block", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(4), graph.Fixed(4)})
	constant := func(name string, dims ...int64) string {
		return b.Constant(graph.NewTensor(name, make([]float32, size(dims)), dims...))
	}
	x = b.Node("Div", []string{b.Node("Sub", []string{x, constant("input_mean", 3, 1, 1)}),
		constant("input_deviation", 3, 1, 1)})
	x = b.Node("Conv", []string{x, constant("conv", 3, 3, 3, 3), constant("conv_bias", 3)},
		graph.Ints("pads", 1, 1, 1, 1))
	x = b.Node("BatchNormalization", []string{x, constant("scale", 3), constant("shift", 3), constant("mean", 3),
		constant("variance", 3)})
	x = b.Node("PRelu", []string{x, constant("slope", 3, 1, 1)})
	x = b.Node("Mul", []string{x, constant("layer_scale", 3, 1, 1)})
	x = b.Node("Add", []string{x, b.Constant(graph.NewTensor("epsilon", []float32{1e-5}))})
	x = b.Node("Add", []string{x, b.Constant(graph.NewTensor("mask", []float32{0, -100, 0}, 3, 1, 1))})
	x = b.Node("Reshape", []string{x, b.Constant(graph.NewTensor("tokens", []int64{0, 16, 3}, 3))})
	turned := b.Node("Transpose", []string{constant("linear", 5, 3)})
	x = b.Node("MatMul", []string{x, turned})
	x = b.Node("Add", []string{constant("linear_bias", 5), x})
	class := b.Node("Expand",
		[]string{constant("class_token", 1, 1, 5), b.Constant(graph.NewTensor("to", []int64{2, 1, 5}, 3))})
	x = b.Node("Concat", []string{class, x}, graph.Int("axis", 1))
	b.Output(b.NodeTo("y", "Relu", []string{x}))
	side := b.Node("MatMul", []string{x, constant("side", 5, 2)})
	b.Output(b.NodeTo("sizes", "Shape", []string{side}))
	return b.Model()
}

func size(dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return n
}

// TestWeights checks which constants are weights, in which role, and after which nodes.
func TestWeights(t *testing.T) {
	var got []string
	for _, w := range gradient.Weights(block(), "") {
		got = append(got, fmt.Sprint(w.Name, " ", w.Op, " ", w.Input, " ", w.Dims, " ", w.Depth))
	}
	want := []string{"conv Conv 1 [3 3 3 3] 2", "conv_bias Conv 2 [3] 2", "scale BatchNormalization 1 [3] 3",
		"shift BatchNormalization 2 [3] 3", "slope PRelu 1 [3 1 1] 4", "layer_scale Mul 1 [3 1 1] 5",
		"linear MatMul 1 [5 3] 10", "linear_bias Add 0 [5] 11", "class_token Concat 0 [1 1 5] 13"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if list := gradient.Weights(block(), "sizes"); list != nil {
		t.Errorf("a shape has weights %v", list)
	}
}

// TestPlain checks that equal constants that an exporter merged are separate again, and that the model computes the
// same output. While merged, no such constant may be trained, because the statistics would change with it.
func TestPlain(t *testing.T) {
	b := graph.NewBuilder("tied", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2), graph.Fixed(3), graph.Fixed(3)})
	zero := b.Constant(graph.NewTensor("zero", []float32{0, 0}, 2))
	one := b.Constant(graph.NewTensor("one", []float32{1, 1}, 2))
	y := b.Node("BatchNormalization", []string{x, one, zero, b.NodeTo("mean", "Identity", []string{zero}),
		b.NodeTo("variance", "Identity", []string{one})})
	y = b.Node("BatchNormalization", []string{y, b.NodeTo("scale", "Identity", []string{one}),
		b.NodeTo("shift", "Identity", []string{zero}),
		b.NodeTo("mean2", "Identity", []string{"mean"}), b.NodeTo("variance2", "Identity", []string{one})})
	b.Output(b.NodeTo("y", "Identity", []string{y}))
	m := b.Model()
	if list := gradient.Weights(m, "y"); len(list) != 0 {
		t.Errorf("found %v, which includes statistics", list)
	}
	free := gradient.Plain(m)
	if err := free.Check(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range gradient.Weights(free, "y") {
		names = append(names, w.Name)
	}
	if diff := cmp.Diff([]string{"one", "zero", "scale", "shift"}, names); diff != "" {
		t.Error(diff)
	}
	if len(m.Graph.Nodes) != 9 || len(free.Graph.Nodes) != 3 || len(m.Graph.Initializers) != 2 ||
		len(free.Graph.Initializers) != 8 {
		t.Errorf("found %d and %d nodes, %d and %d initializers", len(m.Graph.Nodes), len(free.Graph.Nodes),
			len(m.Graph.Initializers), len(free.Graph.Initializers))
	}
	in := map[string]ort.Tensor{"x": ort.Float32s(formula("tied", 36, 0, 1), 2, 2, 3, 3)}
	outs := [][]float32{}
	for _, m := range []*graph.Model{m, free} {
		s, err := orttest.Runtime(t).NewSession(m.Marshal(), ort.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		feed(t, s, in)
		outs = append(outs, in["y"].F32)
	}
	if !slices.Equal(outs[0], outs[1]) {
		t.Error("the model computes other numbers")
	}
}
