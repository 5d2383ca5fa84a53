package gradient_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// BenchmarkTrainedNorm compares the derivative of BatchNormalization as a whole with that of its primitives, on
// a batch of ResNet's first stage.
func BenchmarkTrainedNorm(b *testing.B) {
	in := []array{drawn(1, -1, 3, 8, 64, 56, 56), x(2, 64), x(3, 64)}
	stat := func(b *graph.Builder, name string) string {
		return b.Constant(graph.NewTensor(name, make([]float32, 64), 64))
	}
	whole := func(b *graph.Builder, in []string) string {
		return b.Node("BatchNormalization", append(in[:3:3], stat(b, "mean"), stat(b, "var")))
	}
	primitives := func(b *graph.Builder, in []string) string {
		axes := graph.Ints("axes", 0, 2, 3)
		column := func(t string) string { return b.Node("Reshape", []string{t, ints(b, 64, 1, 1)}) }
		centred := b.Node("Sub", []string{in[0], b.Node("ReduceMean", in[:1], axes)})
		variance := b.Node("ReduceMean", []string{b.Node("Mul", []string{centred, centred})}, axes)
		root := b.Node("Sqrt", []string{b.Node("Add",
			[]string{variance, b.Constant(graph.NewTensor("epsilon", []float32{1e-5}))})})
		unit := b.Node("Div", []string{centred, root})
		return b.Node("Add", []string{b.Node("Mul", []string{unit, column(in[1])}), column(in[2])})
	}
	for _, c := range []ruleCase{{name: "whole", build: whole, norms: gradient.BatchNorm{Train: true}},
		{name: "primitives", build: primitives}} {
		c.in, c.typ = in, graph.Float32
		benchmark(b, c)
	}
}
