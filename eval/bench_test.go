package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// blobs draws n unit rows around class centres; the larger spread, the more the classes overlap.
func blobs(seed uint64, n, d, classes int, spread float64) features.Set {
	rng := rand.New(rand.NewPCG(seed, 5))
	centres := features.NewMatrix(classes, d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	s := features.NewSet(n, d)
	for i := range n {
		s.Labels[i] = i % classes
		for j := range d {
			s.Row(i)[j] = features.Row(centres, s.Labels[i])[j] + float32(spread*rng.NormFloat64())
		}
	}
	if err := features.Normalize(s.X); err != nil {
		panic(err)
	}
	return s
}

// BenchmarkKMeans clusters 10,000 rows of 512 numbers into 100 clusters, with the default five starts and with one
// start. For one start it reports the time of an iteration, including seeding, relative to the matrix product n×d×k
// that it needs.
func BenchmarkKMeans(b *testing.B) {
	orttest.UseBLAS(b)
	run := func(name string, spread float64, starts int) {
		b.Run(name, func(b *testing.B) {
			s := blobs(1, 10000, 512, 100, spread)
			var took time.Duration
			var c Clusters
			for b.Loop() {
				from := time.Now()
				var err error
				if c, err = KMeans(context.Background(), s.X, 100, KMeansOptions{Seed: 1, Starts: starts}); err != nil {
					b.Fatal(err)
				}
				took = time.Since(from)
			}
			dot := features.NewMatrix(s.Len(), 100)
			bare := time.Duration(1 << 62)
			for range 10 {
				from := time.Now()
				blas32.Gemm(blas.NoTrans, blas.Trans, 1, s.X, c.Centres, 0, dot)
				bare = min(bare, time.Since(from))
			}
			b.ReportMetric(float64(c.Iterations), "iterations")
			b.ReportMetric(c.Inertia, "inertia")
			b.ReportMetric(float64(bare.Microseconds())/1000, "ms/product")
			if starts == 1 {
				b.ReportMetric(took.Seconds()/bare.Seconds()/float64(c.Iterations), "products/iteration")
			}
		})
	}
	run("separate", 1, 1)
	run("overlapping", 4, 1)
	run("overlapping/5", 4, 5)
}

// BenchmarkProbe fits a probe to 5,000 rows of 512 numbers in 100 classes. It reports the time relative to the matrix
// products that the steps need, two of n×d×C per step.
func BenchmarkProbe(b *testing.B) {
	orttest.UseBLAS(b)
	for name, spread := range map[string]float64{"separate": 1, "overlapping": 4} {
		for _, l2 := range []float64{1e-3, 1e-5} {
			b.Run(fmt.Sprintf("%s/%g", name, l2), func(b *testing.B) {
				s := blobs(1, 10000, 512, 100, spread)
				train, test := s, s
				train.X.Rows, train.Labels = 5000, s.Labels[:5000]
				test.X.Rows, test.X.Data, test.Labels = 5000, s.X.Data[5000*512:], s.Labels[5000:]
				var p *Probe
				var got Probed
				for b.Loop() {
					var err error
					if p, err = FitProbe(context.Background(), train, ProbeOptions{L2: l2}); err != nil {
						b.Fatal(err)
					}
				}
				took := b.Elapsed() / time.Duration(b.N)
				got, err := LinearProbe(context.Background(), train, test, ProbeOptions{L2: l2})
				if err != nil {
					b.Fatal(err)
				}
				logits := features.NewMatrix(train.Len(), 100)
				bare := time.Duration(1 << 62)
				for range 10 {
					from := time.Now()
					blas32.Gemm(blas.NoTrans, blas.Trans, 1, train.X, features.NewMatrix(100, 512), 0, logits)
					blas32.Gemm(blas.Trans, blas.NoTrans, 1, logits, train.X, 0, features.NewMatrix(100, 512))
					bare = min(bare, time.Since(from))
				}
				b.ReportMetric(float64(p.Iterations), "steps")
				b.ReportMetric(p.Gradient*1e6, "µgradient")
				b.ReportMetric(100*got.Accuracy.Accuracy, "%")
				b.ReportMetric(float64(bare.Microseconds())/1000, "ms/products")
				b.ReportMetric(took.Seconds()/bare.Seconds()/float64(p.Iterations), "products/step")
			})
		}
	}
}
