package filters

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// The setting of the documented times: batch 64 (16 classes × 4), a full bank of 8,192, D = 512, 100 classes.
const (
	benchBatch, benchBank, benchDim, benchClasses, benchPerClass = 64, 8192, 512, 100, 10
	benchInput                                                   = 2048
)

// BenchmarkStep measures the time that each scorer adds to a training step: scoring a batch and pushing the kept rows.
// Each round also computes the four products that every step needs: forward X·W and backward Xᵀ·G of a linear head
// 2048→512, and S = Z·Bankᵀ and G = S·Bank of the memory-contrastive loss. The metrics are floor-ns, the time of the
// products, added-ns, the time of the scorer, and scorer-%, the second as a percentage of the first. Caches are as in a
// real step, which also includes the pass of the loss over S and the solver: there the scorer's share is smaller.
func BenchmarkStep(b *testing.B) {
	orttest.UseBLAS(b)
	for _, entry := range everyEntry {
		b.Run(entry.Name, func(b *testing.B) {
			config := Default()
			config.Scorer, config.Threshold, config.AvgSimSteps, config.Rate = entry.Name, ThresholdMedian, 0, 0.1
			r := rand.New(rand.NewPCG(1, 1))
			proxies := features.NewParam("proxies", benchClasses*benchPerClass, benchDim)
			for i := range proxies.Data {
				proxies.Data[i] = float32(r.NormFloat64())
			}
			f, err := New(config, Env{Dim: benchDim, Classes: benchClasses, Proxies: proxies, PerClass: benchPerClass})
			if err != nil {
				b.Fatal(err)
			}
			bank, batches := benchData(r)
			s, g := features.NewMatrix(benchBatch, benchBank), features.NewMatrix(benchBatch, benchDim)
			x, w := features.NewMatrix(benchBatch, benchInput), features.NewMatrix(benchInput, benchDim)
			var floor, added time.Duration
			for i := 0; b.Loop(); i++ {
				z := batches[i%len(batches)]
				start := time.Now()
				blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, w, 0, g)
				blas32.Gemm(blas.NoTrans, blas.Trans, 1, z.X, bank.Set().X, 0, s)
				blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, s, bank.Set().X, 0, g)
				blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, g, 0, w)
				middle := time.Now()
				kept, _ := f.Keep(z, bank)
				bank.Push(z.Rows(kept))
				floor += middle.Sub(start)
				added += time.Since(middle)
			}
			b.ReportMetric(float64(floor.Nanoseconds())/float64(b.N), "floor-ns")
			b.ReportMetric(float64(added.Nanoseconds())/float64(b.N), "added-ns")
			b.ReportMetric(100*added.Seconds()/floor.Seconds(), "scorer-%")
		})
	}
}

// BenchmarkPush measures the bank's part of BenchmarkStep.
func BenchmarkPush(b *testing.B) {
	bank, batches := benchData(rand.New(rand.NewPCG(1, 1)))
	for i := 0; b.Loop(); i++ {
		bank.Push(batches[i%len(batches)])
	}
}

// BenchmarkLogNormalizer computes one Bessel function on either side of the switch between the two expansions.
func BenchmarkLogNormalizer(b *testing.B) {
	for _, kappa := range []float64{50, 500} {
		b.Run(fmt.Sprintf("kappa%.0f", kappa), func(b *testing.B) {
			for b.Loop() {
				logNormalizer(benchDim, kappa)
			}
		})
	}
}

// benchData returns a full bank and batches of 16 classes × 4 around class directions.
func benchData(r *rand.Rand) (*features.Bank, []features.Set) {
	centres := features.NewMatrix(benchClasses, benchDim)
	for i := range centres.Data {
		centres.Data[i] = float32(r.NormFloat64())
	}
	var batches []features.Set
	for range 160 {
		z := features.NewSet(benchBatch, benchDim)
		classes := r.Perm(benchClasses)[:benchBatch/4]
		for i := range z.Len() {
			z.Labels[i] = classes[i/4]
			for j, c := range features.Row(centres, z.Labels[i]) {
				z.Row(i)[j] = c + float32(r.NormFloat64())
			}
		}
		if err := features.Normalize(z.X); err != nil {
			panic(err)
		}
		batches = append(batches, z)
	}
	bank := features.NewBank(benchBank, benchDim, benchClasses)
	for _, z := range batches {
		bank.Push(z)
	}
	return bank, batches
}
