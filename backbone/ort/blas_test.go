package ort_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"pgregory.net/rapid"

	"winnow/internal/testing/orttest"
)

// gemm is one product with all arguments of a BLAS.
type gemm struct {
	tA, tB        blas.Transpose
	m, n, k       int
	alpha, beta   float32
	a, b, c       []float32
	lda, ldb, ldc int
}

var transposes = []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}

// drawGemm draws a product: sizes on both sides of the threshold, gaps between rows, and C full of NaN if beta is 0,
// because C must then not be read.
func drawGemm(t *rapid.T) gemm {
	size := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(9, 90))
	g := gemm{
		tA: rapid.SampledFrom(transposes).Draw(t, "tA"), tB: rapid.SampledFrom(transposes).Draw(t, "tB"),
		m: size.Draw(t, "m"), n: size.Draw(t, "n"), k: size.Draw(t, "k"),
		alpha: rapid.SampledFrom([]float32{1, 0, -1, 0.37}).Draw(t, "alpha"),
		beta:  rapid.SampledFrom([]float32{0, 1, -1, 2.5}).Draw(t, "beta"),
	}
	seed := rapid.Uint64().Draw(t, "seed")
	gap := rapid.SampledFrom([]int{0, 0, 1, 7})
	rowsA, colsA, rowsB, colsB := g.m, g.k, g.k, g.n
	if g.tA != blas.NoTrans {
		rowsA, colsA = colsA, rowsA
	}
	if g.tB != blas.NoTrans {
		rowsB, colsB = colsB, rowsB
	}
	g.lda, g.ldb, g.ldc = colsA+gap.Draw(t, "gapA"), colsB+gap.Draw(t, "gapB"), g.n+gap.Draw(t, "gapC")
	g.a = parseVersion(seed, rowsA, colsA, g.lda)
	g.b = parseVersion(seed+1, rowsB, colsB, g.ldb)
	g.c = parseVersion(seed+2, g.m, g.n, g.ldc)
	if g.beta == 0 {
		for i := range g.m {
			for j := range g.n {
				g.c[i*g.ldc+j] = float32(math.NaN())
			}
		}
	}
	return g
}

// parseVersion returns rows×cols numbers in [-1, 1), with NaN in the gaps, which no product may read or change. The
// slice ends with the last row, as BLAS allows.
func parseVersion(seed uint64, rows, cols, stride int) []float32 {
	s := make([]float32, stride*(rows-1)+cols)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	state := seed*2862933555777941757 + 3037000493
	for i := range rows {
		for j := range cols {
			state = state*6364136223846793005 + 1442695040888963407
			s[i*stride+j] = float32(int32(state>>32)) / (1 << 31)
		}
	}
	return s
}

// slow computes the product by its definition, in float64.
func (g gemm) slow() []float64 {
	at := func(s []float32, ld int, t blas.Transpose, i, j int) float64 {
		if t != blas.NoTrans {
			i, j = j, i
		}
		return float64(s[i*ld+j])
	}
	out := make([]float64, g.m*g.n)
	for i := range g.m {
		for j := range g.n {
			sum := 0.0
			for l := range g.k {
				sum += at(g.a, g.lda, g.tA, i, l) * at(g.b, g.ldb, g.tB, l, j)
			}
			out[i*g.n+j] = float64(g.alpha) * sum
			if g.beta != 0 {
				out[i*g.n+j] += float64(g.beta) * float64(g.c[i*g.ldc+j])
			}
		}
	}
	return out
}

type sgemmer interface {
	Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
		beta float32, c []float32, ldc int)
}

// check computes g with an implementation and returns what is wrong with the result, or "".
func (g gemm) check(impl sgemmer) string {
	c := append([]float32(nil), g.c...)
	impl.Sgemm(g.tA, g.tB, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, c, g.ldc)
	want := g.slow()
	tolerance := 4e-7 * (float64(g.k) + 4)
	for i := range c {
		row, col := i/g.ldc, i%g.ldc
		if col >= g.n {
			if !math.IsNaN(float64(c[i])) {
				return fmt.Sprintf("the gap after row %d was written", row)
			}
			continue
		}
		if d := math.Abs(float64(c[i]) - want[row*g.n+col]); !(d <= tolerance) {
			return fmt.Sprintf("C[%d,%d]: found %v, expected %v", row, col, c[i], want[row*g.n+col])
		}
	}
	return ""
}

func TestSgemmAgainstDefinition(t *testing.T) {
	b, err := orttest.Runtime(t).BLAS()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		g := drawGemm(t)
		if wrong := g.check(b); wrong != "" {
			t.Fatal(wrong)
		}
		if wrong := g.check(gonum.Implementation{}); wrong != "" {
			t.Fatal("gonum itself: ", wrong)
		}
	})
}

// TestSgemmConcurrent lets several goroutines multiply at once; each must get the bits of a single call.
func TestSgemmConcurrent(t *testing.T) {
	b, err := orttest.Runtime(t).BLAS()
	if err != nil {
		t.Fatal(err)
	}
	const workers, rounds, m, n, k = 6, 20, 40, 50, 60
	var wg sync.WaitGroup
	for w := range workers {
		a, x := parseVersion(uint64(w), m, k, k+w%2), parseVersion(uint64(w+100), k, n, n)
		want := make([]float32, m*n)
		b.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, k+w%2, x, n, 0, want, n)
		wg.Go(func() {
			for range rounds {
				c := make([]float32, m*n)
				b.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, k+w%2, x, n, 0, c, n)
				for i := range c {
					if c[i] != want[i] {
						t.Errorf("worker %d: C[%d]: found %v, expected %v", w, i, c[i], want[i])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestDgemm(t *testing.T) {
	b, err := orttest.Runtime(t).BLAS()
	if err != nil {
		t.Fatal(err)
	}
	const m, n, k = 33, 44, 55
	wide := func(s []float32) []float64 {
		out := make([]float64, len(s))
		for i, v := range s {
			out[i] = float64(v)
		}
		return out
	}
	a, x, c := wide(parseVersion(1, k, m, m)), wide(parseVersion(2, k, n, n)), wide(parseVersion(3, m, n, n))
	want := append([]float64(nil), c...)
	b.Dgemm(blas.Trans, blas.NoTrans, m, n, k, 0.5, a, m, x, n, 2, c, n)
	gonum.Implementation{}.Dgemm(blas.Trans, blas.NoTrans, m, n, k, 0.5, a, m, x, n, 2, want, n)
	for i := range c {
		if !(math.Abs(c[i]-want[i]) <= 1e-12) {
			t.Fatalf("C[%d]: found %v, expected %v", i, c[i], want[i])
		}
	}
}
