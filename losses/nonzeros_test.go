package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// scattered draws an n×r matrix in which one of every entries is non-zero, and returns it with its list of entries.
func scattered(rng *rand.Rand, n, r, every int) (blas32.General, *nonzeros) {
	w, list := features.NewMatrix(n, r), new(nonzeros)
	list.beginList(n, n*r/sparsest)
	d := make([]float64, r)
	for i := range n {
		clear(d)
		for j := range d {
			if rng.IntN(every) == 0 {
				d[j] = rng.NormFloat64()
			}
		}
		if list.few {
			list.narrowListed(features.Row(w, i), d)
		} else {
			narrowFloats(features.Row(w, i), d)
		}
	}
	return w, list
}

// The sum over the list equals the matrix product, with the same bits on one core and on several. If there are too
// many entries, they are written to the matrix but not listed.
func TestNonzeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ n, r, every int }{{3, 640, 60}, {64, 8192, 50}, {7, 500, 1000}, {5, 300, 4}} {
		w, list := scattered(rng, c.n, c.r, c.every)
		v := benchSet(c.r, 256, 10, 1).X
		want := features.NewMatrix(c.n, 256)
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 0.25, w, v, 0, want)
		if list.few != (c.every > sparsest) {
			t.Fatalf("%v: listed %v", c, list.few)
		}
		if !list.few {
			if got := len(list.cols); got > c.n*c.r/sparsest ||
				blas32.Nrm2(blas32.Vector{N: c.r, Inc: 1, Data: features.Row(w, c.n-1)}) == 0 {
				t.Errorf("%v: %d entries listed, or the last row not written", c, got)
			}
			continue
		}
		var results [2]blas32.General
		for i, cores := range []int{1, 4} {
			was := runtime.GOMAXPROCS(cores)
			results[i] = features.NewMatrix(c.n, 256)
			list.multiplySparse(results[i], w, v, 0.25)
			runtime.GOMAXPROCS(was)
		}
		if !slices.Equal(results[0].Data, results[1].Data) {
			t.Errorf("%v: the result depends on the number of cores", c)
		}
		for i, x := range want.Data {
			if math.Abs(float64(x-results[0].Data[i])) > 1e-5 {
				t.Fatalf("%v: entry %d is %v, expected %v", c, i, results[0].Data[i], x)
			}
		}
	}
}

// BenchmarkNonzeros computes W·v for 64 rows and a bank of 8,192 vectors of 512 numbers, with the list and as a
// matrix product, for several shares of non-zero entries.
func BenchmarkNonzeros(b *testing.B) {
	fastProducts(b)
	v, out := benchSet(8192, benchDim, benchClasses, 1).X, features.NewMatrix(64, benchDim)
	for _, every := range []int{400, 100, 50, 36} {
		w, list := scattered(rand.New(rand.NewPCG(1, 1)), 64, 8192, every)
		b.Run(fmt.Sprintf("list/%d", every), func(b *testing.B) {
			for b.Loop() {
				list.multiplySparse(out, w, v, 1)
			}
		})
		b.Run(fmt.Sprintf("product/%d", every), func(b *testing.B) {
			for b.Loop() {
				blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, w, v, 0, out)
			}
		})
	}
}
