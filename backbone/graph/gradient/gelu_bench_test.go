package gradient_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// geluParts is x·½·(1+erf(x/√2)) as torch exports Gelu before set 20, with another factor for ½.
func geluParts(factor float32) func(b *graph.Builder, in []string) string {
	return func(b *graph.Builder, in []string) string {
		scalar := func(v float32) string { return b.Constant(graph.NewTensor("number", []float32{v})) }
		e := b.Node("Erf", []string{b.Node("Div", []string{in[0], scalar(1.4142135)})})
		return b.Node("Mul", []string{b.Node("Mul", []string{in[0], b.Node("Add", []string{e, scalar(1)})}),
			scalar(factor)})
	}
}

// BenchmarkGelu compares a recognised Gelu with one that is not, at the size of a small vision transformer.
func BenchmarkGelu(b *testing.B) {
	in := []array{drawn(1, -3, 3, 8, 197, 1536)}
	for _, c := range []ruleCase{{name: "whole", build: geluParts(0.5)}, {name: "parts", build: geluParts(0.6)}} {
		c.in, c.typ = in, graph.Float32
		benchmark(b, c)
	}
}

// benchmark measures both models of a case with one output.
func benchmark(b *testing.B, c ruleCase) {
	d, values, err := c.derivative()
	if err != nil {
		b.Fatal(err)
	}
	m := newMachine(b, d, graph.Float32)
	tensors := m.forward(values)
	tensors[d.GradOutput] = c.in[0].tensor(graph.Float32)
	for _, part := range []struct {
		name string
		s    *ort.Session
	}{{"forward", m.fwd}, {"backward", m.bwd}} {
		var feed []ort.Tensor
		for _, info := range part.s.Inputs() {
			feed = append(feed, tensors[info.Name])
		}
		b.Run(c.name+"/"+part.name, func(b *testing.B) {
			for b.Loop() {
				if err := part.s.Run(feed, make([]ort.Tensor, len(part.s.Outputs()))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
