package judges_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"winnow/audit/judges"
	"winnow/features"
)

// 60,000 whitened images of 100 classes.
func BenchmarkFitted(b *testing.B) {
	const classes, n, dim = 100, 60000, 512
	rng := rand.New(rand.NewPCG(1, 1))
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(0.6 * rng.NormFloat64())
	}
	z := features.NewSet(n, dim)
	for i := range n {
		k := i % classes
		if z.Labels[i] = k; i%5 == 0 {
			z.Labels[i] = rng.IntN(classes)
		}
		for j := range dim {
			z.Row(i)[j] = features.Row(centres, k)[j] + float32(rng.NormFloat64())
		}
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := judges.Ask(context.Background(), z, classes, judges.Fitted,
			judges.Options{Rand: rand.New(rand.NewPCG(1, 2))}); err != nil {
			b.Fatal(err)
		}
	}
}
