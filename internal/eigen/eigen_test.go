package eigen_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"winnow/internal/eigen"
)

// drawn returns a matrix with these eigenvalues and random eigenvectors.
func drawn(seed uint64, values []float64) *mat.SymDense {
	n := len(values)
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(x)
	var q, scaled mat.Dense
	qr.QTo(&q)
	scaled.Mul(&q, mat.NewDiagDense(n, values))
	x.Mul(&scaled, q.T())
	c := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			c.SetSym(i, j, (x.At(i, j)+x.At(j, i))/2)
		}
	}
	return c
}

// off returns how far the vectors are from orthonormal eigenvectors, relative to the largest eigenvalue.
func off(c *mat.SymDense, values []float64, vectors *mat.Dense) float64 {
	n, scale := len(values), 0.0
	for _, v := range values {
		scale = math.Max(scale, math.Abs(v))
	}
	var product, gram mat.Dense
	product.Mul(vectors, c)
	gram.Mul(vectors, vectors.T())
	worst := 0.0
	for i := range n {
		for j := range n {
			if want := values[i] * vectors.At(i, j); scale > 0 {
				worst = math.Max(worst, math.Abs(product.At(i, j)-want)/scale)
			}
			want := 0.0
			if i == j {
				want = 1
			}
			worst = math.Max(worst, math.Abs(gram.At(i, j)-want))
		}
	}
	return worst
}

func TestSymmetric(t *testing.T) {
	repeat := func(n int, value func(i int) float64) (v []float64) {
		for i := range n {
			v = append(v, value(i))
		}
		return v
	}
	for name, values := range map[string][]float64{
		"one":         {3},
		"two":         {-1, 2},
		"zero":        make([]float64, 5),
		"equal":       repeat(30, func(int) float64 { return 7 }),
		"rising":      repeat(120, func(i int) float64 { return float64(i) }),
		"steep":       repeat(100, func(i int) float64 { return math.Pow(10, -float64(i)/4) }),
		"of rank 5":   repeat(60, func(i int) float64 { return float64(max(0, 5-i)) }),
		"both signs":  repeat(81, func(i int) float64 { return float64(i%9) - 4 }),
		"tiny":        repeat(40, func(i int) float64 { return 1e-120 * float64(i+1) }),
		"two crowded": repeat(64, func(i int) float64 { return float64(i%2) + 1e-13*float64(i) }),
	} {
		t.Run(name, func(t *testing.T) {
			c := drawn(uint64(len(values)), values)
			got, vectors, ok := eigen.Symmetric(c)
			if !ok {
				t.Fatal("did not end")
			}
			want, scale := slices.Sorted(slices.Values(values)), 0.0
			for _, v := range want {
				scale = math.Max(scale, math.Abs(v))
			}
			for i, v := range got {
				if !(math.Abs(v-want[i]) <= 1e-12*scale) {
					t.Errorf("eigenvalue %d: %v, expected %v", i, v, want[i])
				}
			}
			if worst := off(c, got, vectors); !(worst < 1e-12) {
				t.Errorf("off by %g", worst)
			}
			if len(values) > 2 && values[0] != values[1] {
				vectors.Set(1, 0, vectors.At(1, 0)+1e-6)
				if worst := off(c, got, vectors); worst < 1e-12 {
					t.Error("a spoiled vector was not seen")
				}
			}
		})
	}
	t.Run("tridiagonal with a hole", func(t *testing.T) {
		c := mat.NewSymDense(6, nil)
		for i, v := range []float64{2, 1, 0, 3, 1} { // off-diagonal elements
			c.SetSym(i, i+1, v)
		}
		values, vectors, ok := eigen.Symmetric(c)
		if worst := off(c, values, vectors); !ok || worst > 1e-13 {
			t.Errorf("off by %g, ended %v", worst, ok)
		}
	})
}

// BenchmarkSymmetric also reports how many times longer gonum takes.
func BenchmarkSymmetric(b *testing.B) {
	for _, n := range []int{128, 512} {
		c := drawn(1, func() (v []float64) {
			for i := range n {
				v = append(v, 1/float64(i+1))
			}
			return v
		}())
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ours, theirs := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
			for b.Loop() {
				at := time.Now()
				eigen.Symmetric(c)
				ours = min(ours, time.Since(at))
				at = time.Now()
				var e mat.EigenSym
				e.Factorize(c, true)
				theirs = min(theirs, time.Since(at))
			}
			b.ReportMetric(ours.Seconds()*1000, "ms/ours")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "gonum/ours")
		})
	}
}
