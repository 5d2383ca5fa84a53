package crossfit

import (
	"context"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// BenchmarkJudge judges 2,000 drawn vectors of 256 dimensions in 50 classes with gonum's products. With those of ONNX
// Runtime, as in winnow audit, training takes a fraction of the time.
func BenchmarkJudge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 9))
	z := features.NewSet(2000, 256)
	for i := range z.Len() {
		z.Labels[i] = i % 50
		for j := range z.Dim() {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
		z.Row(i)[z.Labels[i]] += 4
	}
	for b.Loop() {
		if _, err := Judge(context.Background(), z, 50, Options{Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWeigh fits a weighing to the labels of half a fold.
func BenchmarkWeigh(b *testing.B) {
	rows, labels := drawn(1, 15, 0.3, 1000, 200)
	for b.Loop() {
		fitWeighing(b.Context(), rows, labels, 200, weighing{[]float64{10, 10}, 0.2}, worth)
	}
}
