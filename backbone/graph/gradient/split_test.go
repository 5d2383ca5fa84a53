package gradient_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// weightOf adds an initializer with random values.
func weightOf(b *graph.Builder, name string, seed uint64, dims ...int64) string {
	a := drawn(seed, -0.5, 0.5, dims...)
	return b.Constant(graph.NewTensor(name, a.tensor(graph.Float32).F32, dims...))
}

// runModel returns the outputs of a model by name.
func runModel(t testing.TB, m *graph.Model, values map[string]ort.Tensor) map[string]ort.Tensor {
	t.Helper()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := orttest.Runtime(t).NewSession(m.Marshal(), ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var in []ort.Tensor
	for _, info := range s.Inputs() {
		v, ok := values[info.Name]
		if !ok {
			t.Fatalf("the model reads %q", info.Name)
		}
		in = append(in, v)
	}
	out := make([]ort.Tensor, len(s.Outputs()))
	if err := s.Run(in, out); err != nil {
		t.Fatal(err)
	}
	result := map[string]ort.Tensor{}
	for i, info := range s.Outputs() {
		result[info.Name] = out[i]
	}
	return result
}

// splitCase is a model over x [N,3,6,6] that is cut at the given weights.
type splitCase struct {
	name     string
	build    func(b *graph.Builder, x string) string
	weights  []string
	boundary []string // expected
	inputs   []string // inputs of the live model
}

func splitCases() []splitCase {
	conv := func(b *graph.Builder, x, w string, seed uint64, out, in int64) string {
		return b.NodeTo("y_"+w, "Conv", []string{x, weightOf(b, w, seed, out, in, 3, 3)},
			graph.Ints("pads", 1, 1, 1, 1))
	}
	return []splitCase{
		{name: "chain", weights: []string{"c"}, boundary: []string{"b_relu"}, inputs: []string{"b_relu"},
			build: func(b *graph.Builder, x string) string {
				y := conv(b, conv(b, x, "a", 1, 4, 3), "b", 2, 4, 4)
				return conv(b, b.NodeTo("b_relu", "Relu", []string{y}), "c", 3, 2, 4)
			}},
		{name: "residual", weights: []string{"b"}, boundary: []string{"y_a", "relu"}, inputs: []string{"y_a", "relu"},
			build: func(b *graph.Builder, x string) string {
				y := conv(b, x, "a", 1, 4, 3)
				z := conv(b, b.NodeTo("relu", "Relu", []string{y}), "b", 2, 4, 4)
				return b.NodeTo("sum", "Add", []string{y, z})
			}},
		{name: "everything", weights: []string{"a"}, inputs: []string{"x"},
			build: func(b *graph.Builder, x string) string { return conv(b, x, "a", 1, 4, 3) }},
		{name: "image read directly", weights: []string{"b"}, boundary: []string{"y_a"}, inputs: []string{"y_a", "x"},
			build: func(b *graph.Builder, x string) string {
				z := conv(b, conv(b, x, "a", 1, 3, 3), "b", 2, 3, 3)
				return b.NodeTo("sum", "Add", []string{z, x})
			}},
		{name: "shape of a frozen tensor", weights: []string{"b"}, boundary: []string{"pool"}, inputs: []string{"pool"},
			build: func(b *graph.Builder, x string) string {
				y := conv(b, x, "a", 1, 4, 3)
				p := b.NodeTo("pool", "GlobalAveragePool", []string{y})
				z := conv(b, p, "b", 2, 36, 4)
				to := b.Node("Concat", []string{
					b.Node("Gather", []string{b.Node("Shape", []string{y}),
						b.Constant(graph.NewTensor("zero", []int64{0}, 1))}, graph.Int("axis", 0)),
					b.Constant(graph.NewTensor("size", []int64{-1}, 1)),
				}, graph.Int("axis", 0))
				return b.NodeTo("flat", "Reshape", []string{z, to})
			}},
		{name: "mask and constants", weights: []string{"b"}, boundary: []string{"y_a"}, inputs: []string{"y_a"},
			build: func(b *graph.Builder, x string) string {
				y := conv(b, x, "a", 1, 4, 3)
				mask := b.Node("Greater", []string{y, b.Constant(graph.NewTensor("half", []float32{0.1}))})
				scale := b.Node("Exp", []string{weightOf(b, "log", 5, 1, 4, 1, 1)}) // does not depend on an image
				z := b.Node("Mul", []string{conv(b, y, "b", 2, 4, 4), scale})
				return b.NodeTo("masked", "Where", []string{mask, z, b.Constant(graph.NewTensor("none", []float32{0}))})
			}},
		{name: "first axis is not the images", weights: []string{"w"}, boundary: []string{"y_a"},
			inputs: []string{"y_a"},
			build: func(b *graph.Builder, x string) string {
				y := conv(b, x, "a", 1, 4, 3)
				rows := b.Node("Reshape", []string{y, b.Constant(graph.NewTensor("rows", []int64{-1, 6}, 2))})
				z := b.Node("MatMul", []string{rows, weightOf(b, "w", 2, 6, 2)})
				return b.NodeTo("back", "Reshape",
					[]string{z, b.Constant(graph.NewTensor("images", []int64{-1, 48}, 2))})
			}},
	}
}

func (c splitCase) model() (*graph.Model, string) {
	b := graph.NewBuilder(c.name, 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free(""), graph.Fixed(3), graph.Fixed(6), graph.Fixed(6)})
	out := c.build(b, x)
	b.Output(out)
	return b.Model(), out
}

func TestSplitModel(t *testing.T) {
	for _, c := range splitCases() {
		t.Run(c.name, func(t *testing.T) {
			m, out := c.model()
			before := m.Marshal()
			frozen, live, boundary, err := gradient.Split(m, out, c.weights)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, m.Marshal()) {
				t.Error("Split changed the model")
			}
			if diff := cmp.Diff(c.boundary, boundary); diff != "" {
				t.Errorf("boundary (-want +got):\n%s", diff)
			}
			var inputs []string
			for _, in := range live.Graph.DataInputs() {
				inputs = append(inputs, in.Name)
			}
			if diff := cmp.Diff(c.inputs, inputs); diff != "" {
				t.Errorf("inputs of the live model (-want +got):\n%s", diff)
			}
			if (frozen == nil) != (len(c.boundary) == 0) {
				t.Fatalf("frozen model is %v", frozen)
			}
			if frozen != nil {
				for _, w := range c.weights {
					if frozen.Graph.Initializer(w) != nil {
						t.Errorf("the frozen model holds the trained weight %q", w)
					}
				}
			}
			for _, n := range []int64{1, 5} {
				x := drawn(uint64(n), -1, 1, n, 3, 6, 6).tensor(graph.Float32)
				values := map[string]ort.Tensor{"x": x}
				want := runModel(t, m, values)[out]
				fed := map[string]ort.Tensor{"x": x}
				if frozen != nil {
					for name, v := range runModel(t, frozen, values) {
						fed[name] = v
					}
				}
				got := runModel(t, live, fed)[out]
				if diff := cmp.Diff(want.Shape, got.Shape); diff != "" {
					t.Fatal(diff)
				}
				for i, v := range want.F32 {
					if d := v - got.F32[i]; d > 1e-5 || d < -1e-5 {
						t.Fatalf("n=%d: value %d is %v, the whole model's %v", n, i, got.F32[i], v)
					}
				}
			}
			if _, err := gradient.Differentiate(live, gradient.Options{Output: out, Weights: c.weights}); err != nil &&
				!strings.Contains(err.Error(), "no rule") {
				t.Errorf("the live part cannot be differentiated: %v", err)
			}
		})
	}
}
