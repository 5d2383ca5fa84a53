package head

import (
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// BenchmarkHeadStep measures Forward and Backward of a linear head (batch 64, 2048 → 512 dimensions). In the same run
// it alternately measures only the two matrix products that every implementation needs. It does both with gonum's
// products and with ONNX Runtime's, which the command uses. Package train measures the solver's time.
func BenchmarkHeadStep(b *testing.B) {
	b.Run("gonum", func(b *testing.B) {
		blas32.Use(gonum.Implementation{})
		benchmarkStep(b)
	})
	b.Run("onnxruntime", func(b *testing.B) {
		orttest.UseBLAS(b)
		defer blas64.Use(gonum.Implementation{})
		defer blas32.Use(gonum.Implementation{})
		benchmarkStep(b)
	})
}

func benchmarkStep(b *testing.B) {
	const batch, in, out = 64, 2048, 512
	rng := rand.New(rand.NewPCG(1, 1))
	train := randomSet(rng, 1000, in)
	h, err := New(b.Context(), Config{In: in, Out: out, Bias: true, Init: Random}, train.X, rng)
	if err != nil {
		b.Fatal(err)
	}
	e, err := NewEncoder(h, train, batch)
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	dz := randomSet(rng, batch, out).X
	x, y, grad := randomSet(rng, batch, in).X, features.NewMatrix(batch, out), features.NewMatrix(in, out)
	rows := make([]int, batch)
	var floor, step time.Duration
	best, bestFloor := time.Hour, time.Hour
	b.ReportAllocs()
	for b.Loop() {
		for i := range rows {
			rows[i] = rng.IntN(train.Len())
		}
		start := time.Now()
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, h.weight.Matrix(), 0, y)
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, dz, 0, grad)
		middle := time.Now()
		if _, err := e.Forward(rows); err != nil {
			b.Fatal(err)
		}
		if err := e.Backward(dz); err != nil {
			b.Fatal(err)
		}
		end := time.Now()
		floor, step = floor+middle.Sub(start), step+end.Sub(middle)
		best, bestFloor = min(best, end.Sub(middle)), min(bestFloor, middle.Sub(start))
	}
	b.ReportMetric(float64(step)/float64(floor), "step/products")
	b.ReportMetric(float64(best)/float64(bestFloor), "best/best")
	b.ReportMetric(step.Seconds()*1e3/float64(b.N), "step-ms")
	b.ReportMetric(floor.Seconds()*1e3/float64(b.N), "products-ms")
}

func randomSet(rng *rand.Rand, n, d int) features.Set {
	s := features.NewSet(n, d)
	for i := range s.X.Data {
		s.X.Data[i] = float32(rng.NormFloat64())
	}
	for i := range n {
		s.Labels[i], s.IDs[i] = i%7, 1000+i
	}
	return s
}
