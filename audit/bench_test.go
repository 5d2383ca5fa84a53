package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	_ "winnow/backbone/ort"

	"winnow/audit/judges"
	"winnow/features"
)

// The whole audit by the default judges, compared with its lower bound in the same run: the necessary matrix
// products. times-floor is the ratio of the times.
//
//	go test ./audit -run xxx -bench Audit -benchtime 1x -timeout 2h
func BenchmarkAudit(b *testing.B) {
	for _, size := range []struct{ n, dim, classes int }{{3000, 1280, 100}, {12_000, 1280, 100}, {50_000, 1280, 100},
		{200_000, 512, 1000}} {
		set := drawn(size.n, size.dim, size.classes)
		for _, scorer := range []string{judges.Combined, judges.Fitted} {
			b.Run(fmt.Sprintf("%s/%dx%d/%d", scorer, size.n, size.dim, size.classes), func(b *testing.B) {
				floor := products(size.n, size.dim, size.classes, scorer == judges.Combined)
				for b.Loop() {
					if _, err := audit.Run(context.Background(), set,
						audit.Options{Scorer: scorer, Whiten: true}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(floor.Seconds(), "floor-s")
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/floor.Seconds(), "times-floor")
			})
		}
	}
}

// products returns the time of the products: covariances and embedding by both whitenings, eight passes over all
// classes (three λ, the chosen one, noise rate, classes, and fits twice), and with heads ten epochs forward and back
// for each of five folds, of at most 65,536 images.
func products(n, dim, classes int, heads bool) time.Duration {
	const width, batch = 512, 128
	at := time.Now()
	multiply := func(rows, inner, columns, times int) {
		x, w, y := features.NewMatrix(rows, inner), features.NewMatrix(inner, columns),
			features.NewMatrix(rows, columns)
		for range times {
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, w, 0, y)
		}
	}
	const block = 2048
	blocks := (n + block - 1) / block
	multiply(dim, block, dim, blocks)
	multiply(block, dim, width, blocks)
	multiply(width, block, width, blocks)
	multiply(block, width, width, blocks)
	multiply(block, width, classes, 8*blocks)
	if heads {
		steps := 5 * 10 * min(n*4/5, 1<<16) / batch
		multiply(batch, dim, width, steps)
		multiply(dim, batch, width, steps)
		multiply(batch, width, classes, steps)
		multiply(batch, classes, width, steps)
		multiply(classes, batch, width, steps)
	}
	return time.Since(at)
}

// drawn draws classes around directions, with a fifth of the labels wrong.
func drawn(n, dim, classes int) features.Set {
	rng := rand.New(rand.NewPCG(1, 1))
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(0.6 * rng.NormFloat64())
	}
	set := features.NewSet(n, dim)
	for i := range n {
		k := i % classes
		if set.Labels[i] = k; i%5 == 0 {
			set.Labels[i] = rng.IntN(classes)
		}
		for j := range dim {
			set.Row(i)[j] = features.Row(centres, k)[j] + float32(rng.NormFloat64())
		}
	}
	return set
}
