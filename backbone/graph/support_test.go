package graph_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// realModels lists the pretrained networks stored next to the repository.
var realModels = []string{"googlenet-bvlc", "mobilenetv2-features", "squeezenet1.1", "resnet50v2-stage3-features"}

func realModel(t testing.TB, name string) ([]byte, *graph.Model) {
	t.Helper()
	data, err := os.ReadFile(reference.Asset(t, "models/"+name+".onnx"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.ReadNamed(name, data)
	if err != nil {
		t.Fatal(err)
	}
	return data, m
}

// everything makes cmp compare models including their unexported fields.
var everything = cmp.Options{
	cmp.AllowUnexported(graph.Model{}, graph.Graph{}, graph.Node{}, graph.Attribute{}, graph.Tensor{},
		graph.ValueInfo{}, graph.Dim{}, graph.Opset{}),
	cmp.FilterValues(func(a, b []byte) bool { return len(a)+len(b) > 0 }, cmp.Comparer(bytes.Equal)),
	cmpopts.EquateEmpty(), cmpopts.EquateNaNs(),
}

// numbers returns n random numbers from -1 to 1.
func numbers(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 7))
	out := make([]float32, n)
	for i := range out {
		out[i] = 2*rng.Float32() - 1
	}
	return out
}

// exec runs a model with ONNX Runtime on its inputs in order, and returns all outputs.
func exec(t testing.TB, m *graph.Model, in ...ort.Tensor) []ort.Tensor {
	t.Helper()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	s, err := orttest.Runtime(t).NewSession(m.Marshal(), ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := make([]ort.Tensor, len(s.Outputs()))
	if err := s.Run(in, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// farthest returns the largest difference between two lists of numbers, or infinity if their lengths differ.
func farthest(a, b []float32) float64 {
	if len(a) != len(b) {
		return 1e30
	}
	worst := 0.0
	for i := range a {
		d := float64(a[i]) - float64(b[i])
		if d != d {
			return 1e30
		}
		worst = max(worst, d, -d)
	}
	return worst
}

// small returns a two-layer network over images of 1×8×8 that uses most kinds of fields.
func small(opset int64) *graph.Model {
	b := graph.NewBuilder("small", opset)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(1), graph.Fixed(8), graph.Fixed(8)})
	w := b.Constant(graph.NewTensor("w", numbers(1, 4*9), 4, 1, 3, 3))
	c := b.Node("Conv", []string{x, w}, graph.Ints("kernel_shape", 3, 3), graph.Ints("pads", 1, 1, 1, 1),
		graph.Ints("strides", 2, 2))
	r := b.Node("Relu", []string{c})
	p := b.Node("GlobalAveragePool", []string{r})
	f := b.Node("Flatten", []string{p}, graph.Int("axis", 1))
	g := b.Node("Gemm", []string{f, b.Constant(graph.NewTensor("fc", numbers(2, 5*4), 5, 4)),
		b.Constant(graph.NewTensor("fcb", numbers(3, 5), 5))},
		graph.Int("transB", 1), graph.Float("alpha", 1))
	b.Output(b.NodeTo("prob", "Softmax", []string{g}, graph.Int("axis", 1)))
	m := b.Model()
	m.Doc, m.Metadata = "made by a test", []graph.Property{{Key: "k", Value: "v"}}
	return m
}
