package head

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// mirrored returns the diagonal matrix of values, reflected in three random hyperplanes.
func mirrored(values []float64) *mat.SymDense {
	n, rng := len(values), rand.New(rand.NewPCG(4, 1))
	c := mat.NewSymDense(n, nil)
	for i, v := range values {
		c.SetSym(i, i, v)
	}
	for range 3 {
		u := mat.NewVecDense(n, nil)
		for i := range n {
			u.SetVec(i, rng.NormFloat64())
		}
		u.ScaleVec(1/mat.Norm(u, 2), u)
		var image mat.VecDense
		image.MulVec(c, u)
		c.RankTwo(c, -2, u, &image)
		c.SymRankOne(c, 4*mat.Dot(u, &image), u)
	}
	return c
}

// If the spectrum falls, the iteration gives the same eigenvalues as a complete decomposition. If the spectrum is flat,
// it captures nearly the largest possible variance. If the rank is below the iteration's width, the rest is 0.
func TestLeadingEigen(t *testing.T) {
	const d, k = 700, 40
	for _, c := range []struct {
		power float64
		rank  int
	}{{0.5, d}, {1, d}, {2, d}, {1, 20}} {
		given := make([]float64, d)
		for i := range c.rank {
			given[i] = math.Pow(float64(i+1), -c.power)
		}
		matrix := mirrored(given)
		values, vectors := LeadingEigen(matrix, k)
		var got, want float64
		for j := range k {
			got, want = got+values[j], want+given[j]
			if c.power >= 1 && j < 10 && math.Abs(values[j]-given[j]) > 1e-4*given[j] {
				t.Errorf("%+v: eigenvalue %d is %v, expected %v", c, j, values[j], given[j])
			}
		}
		if got < want*(1-1e-3) || got > want*(1+1e-5) {
			t.Errorf("%+v: captures %v of %v", c, got, want)
		}
		var image, inner, gram mat.Dense
		image.Mul(matrix, vectors)
		inner.Mul(vectors.T(), &image) // VᵀCV must be diagonal
		gram.Mul(vectors.T(), vectors)
		for i := range k {
			for j := range k {
				if i != j && math.Abs(inner.At(i, j))+math.Abs(gram.At(i, j)) > 1e-10 ||
					i == j && math.Abs(gram.At(i, i)-1) > 1e-10 {
					t.Fatalf("%+v: columns %d and %d: %v, %v", c, i, j, inner.At(i, j), gram.At(i, j))
				}
			}
		}
	}
}
