package head_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
)

// BenchmarkWhiten measures the start of a training on the features of MobileNetV2 and ResNet-50: whitening
// 6,000 vectors whose spectrum falls by a power law, like those of real features.
func BenchmarkWhiten(b *testing.B) {
	orttest.UseBLAS(b)
	defer blas64.Use(gonum.Implementation{})
	defer blas32.Use(gonum.Implementation{})
	for _, dim := range []int{1280, 2048} {
		x := features.NewMatrix(6000, dim)
		rng := rand.New(rand.NewPCG(1, uint64(dim)))
		for i := range x.Rows {
			for j := range dim {
				features.Row(x, i)[j] = float32(rng.NormFloat64() / math.Sqrt(1+float64(j)))
			}
		}
		b.Run(fmt.Sprintf("%d_to_512", dim), func(b *testing.B) {
			for b.Loop() {
				if _, err := head.New(b.Context(),
					head.Config{In: dim, Out: 512, Bias: true, Activation: head.ReLU, Init: head.Whiten}, x,
					rng); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
