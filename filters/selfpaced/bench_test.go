package selfpaced

import (
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// cloud returns n unit vectors in classes around random directions.
func cloud(n, dim, classes int, noise float64, rng *rand.Rand) features.Set {
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	z := features.NewSet(n, dim)
	for i := range n {
		z.Labels[i] = rng.IntN(classes)
		for j, c := range features.Row(centres, z.Labels[i]) {
			z.Row(i)[j] = c + float32(noise*rng.NormFloat64())
		}
	}
	if err := features.Normalize(z.X); err != nil {
		panic(err)
	}
	return z
}

// BenchmarkLosses computes ξ of 10,000 samples and, for comparison, its products: all of z·zᵀ (N²·d), and the
// half of it that ξ computes, each pair once.
func BenchmarkLosses(b *testing.B) {
	orttest.UseBLAS(b)
	const n, dim, classes = 10_000, 512, 100
	z := cloud(n, dim, classes, 1, rand.New(rand.NewPCG(1, 1)))
	g := newGrouping(z.Labels)
	b.Run("losses", func(b *testing.B) {
		for b.Loop() {
			completeLosses(Default(), z.X, g)
		}
	})
	for name, whole := range map[string]bool{"products": true, "half": false} {
		b.Run(name, func(b *testing.B) {
			scratch := make([]float32, blockEntries)
			for b.Loop() {
				to := 0
				for from := 0; from < n; from = to {
					first := from
					if whole {
						first = 0
					}
					to = min(n, from+blockEntries/(n-first))
					features.Products(&scratch, features.Part(z.X, from, to-from), features.Part(z.X, first, n-first))
				}
			}
		})
	}
	b.Run("sampled", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(2, 2))
		for b.Loop() {
			sampleLosses(Default(), z.X, g, rng)
		}
	})
}

// BenchmarkVisit is one pass of Algorithm 3 over 10,000 coordinates.
func BenchmarkVisit(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	z := cloud(10_000, 16, 100, 1, rng)
	g := newGrouping(z.Labels)
	l := completeLosses(Default(), z.X, g)
	for name, draws := range map[string]int{"complete": 0, "sampled": 5} {
		b.Run(name, func(b *testing.B) {
			w := make([]float64, z.Len())
			d := descent{problem: newProblem(g, l, 2, 3, w), step: scaledStep, rate: 0.5, classes: draws,
				perClass: draws}
			for b.Loop() {
				d.visitWeights(rng)
			}
		})
	}
}
