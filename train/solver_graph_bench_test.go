package train_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/train"
)

// adamGraph is Adam's update of one parameter of n weights as a graph for the runtime: x, g, m, v, step,
// scale → x', m', v', where step and scale hold the bias corrections.
func adamGraph(n int64) *graph.Model {
	b := graph.NewBuilder("adam", 17)
	shape := graph.ShapeOf(n)
	x, g := b.Input("x", graph.Float32, shape), b.Input("g", graph.Float32, shape)
	m, v := b.Input("m", graph.Float32, shape), b.Input("v", graph.Float32, shape)
	step, scale := b.Input("step", graph.Float32, graph.Shape{}), b.Input("scale", graph.Float32, graph.Shape{})
	number := func(name string, value float32) string { return b.Constant(graph.NewTensor(name, []float32{value})) }
	blend := func(out string, keep float32, before, next string) string {
		left := b.Node("Mul", []string{before, number(out+"_keep", keep)})
		return b.NodeTo(b.Fresh(out), "Add", []string{left, b.Node("Mul", []string{next, number(out+"_new", 1-keep)})})
	}
	m1 := blend("m1", 0.9, m, g)
	v1 := blend("v1", 0.999, v, b.Node("Mul", []string{g, g}))
	under := b.Node("Add", []string{b.Node("Mul", []string{b.Node("Sqrt", []string{v1}), scale}), number("eps", 1e-8)})
	move := b.Node("Mul", []string{b.Node("Div", []string{m1, under}), step})
	b.NodeTo(b.Fresh("x1"), "Sub", []string{x, move})
	b.SetOutputs("x1", "m1", "v1")
	return b.Model()
}

// BenchmarkSolverPlace compares Adam in Go with Adam as a graph in ONNX Runtime, on the largest weight of a
// ResNet (512×4608), with both reading and writing the same memory at every step.
func BenchmarkSolverPlace(b *testing.B) {
	const n = 512 * 4608
	draw := func() []float32 {
		rng := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(math.Abs(rng.NormFloat64()) * 1e-3)
		}
		return x
	}
	b.Run("go", func(b *testing.B) {
		p := features.NewParam("w", 512, 4608)
		copy(p.Data, draw())
		copy(p.Grad, draw())
		s, err := train.NewSolver(train.DefaultSolver("adam"))
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			s.Step([]*features.Param{p}, 1e-6)
		}
	})
	b.Run("graph", func(b *testing.B) {
		s, err := orttest.Runtime(b).NewSession(adamGraph(n).Marshal(), ort.SessionOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		in := []ort.Tensor{ort.Float32s(draw(), n), ort.Float32s(draw(), n), ort.Float32s(draw(), n),
			ort.Float32s(draw(), n),
			ort.Float32s([]float32{1e-6}), ort.Float32s([]float32{1})}
		out := []ort.Tensor{ort.Float32s(make([]float32, n), n), ort.Float32s(make([]float32, n), n),
			ort.Float32s(make([]float32, n), n)}
		for b.Loop() {
			if err := s.Run(in, out); err != nil {
				b.Fatal(err)
			}
			in[0], in[2], in[3], out[0], out[1], out[2] = out[0], out[1], out[2], in[0], in[2], in[3]
		}
	})
}
