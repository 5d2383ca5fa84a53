package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	_ "winnow/backbone/ort"

	"winnow/audit/judges"
	"winnow/features"
)

// The whole audit by the judges that are the default, beside its floor: the products of a head's training, 5 folds of 10 epochs
// forward, backward and update over 4/5 of the images.
//
//	go test ./audit -run xxx -bench Audit -benchtime 1x -timeout 60m
func BenchmarkAudit(b *testing.B) {
	for _, size := range []struct{ n, dim, classes int }{{3000, 1280, 100}, {50_000, 1280, 100}} {
		set := drawn(size.n, size.dim, size.classes)
		for _, scorer := range []string{judges.Combined, judges.Fitted} {
			b.Run(fmt.Sprintf("%s/%dx%d/%d", scorer, size.n, size.dim, size.classes), func(b *testing.B) {
				for b.Loop() {
					if _, err := Run(context.Background(), set, Options{Scorer: scorer, Whiten: true}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("floor/%dx%d/%d", size.n, size.dim, size.classes), func(b *testing.B) {
			const batch, width = 128, 512
			x, w, z := features.NewMatrix(batch, size.dim), features.NewMatrix(size.dim, width), features.NewMatrix(batch, width)
			for b.Loop() {
				for range 5 * 10 * size.n * 4 / 5 / batch {
					blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, w, 0, z)
					blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, z, 0, w)
				}
			}
		})
	}
}

// drawn draws classes around directions, a fifth of the labels wrong.
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
