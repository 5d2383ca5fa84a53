package gradient_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// BenchmarkDifferentiate is the time that a user waits before the first step: hundreds of tensors are saved.
func BenchmarkDifferentiate(b *testing.B) {
	for _, name := range []string{"resnet50", "vit"} {
		b.Run(name, func(b *testing.B) {
			m := readRun(b, name).model(b)
			weights, err := gradient.Choose(m, m.Graph.Outputs[0].Name, gradient.AllWeights)
			if err != nil {
				b.Fatal(err)
			}
			var d *gradient.Derivative
			for b.Loop() {
				if d, err = gradient.Differentiate(m, gradient.Options{Weights: weights}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(d.Saved)), "saved")
		})
	}
}

// BenchmarkInfer is one inference over the same network, for comparison.
func BenchmarkInfer(b *testing.B) {
	m := readRun(b, "resnet50").model(b)
	for b.Loop() {
		if len(graph.Infer(m)) == 0 {
			b.Fatal("nothing found")
		}
	}
}
