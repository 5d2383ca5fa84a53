package head

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"winnow/internal/eigen"
)

const (
	// exactRows is the largest dimension for a complete decomposition, which takes 0.2 s at dimension 640
	// and eight times as long at twice the dimension.
	exactRows  = 640
	plainSteps = 3    // products with the matrix that estimate the unwanted part of the spectrum for the filter
	rounds     = 4    // number of times the filter is applied
	maxDegree  = 4    // largest degree of the filter
	maxStretch = 1e10 // largest ratio by which a filter may stretch directions; beyond, rounding loses the short ones
)

// LeadingEigen returns the k largest eigenvalues of a positive semidefinite matrix, in falling order, and their
// eigenvectors as columns (d×k). The matrix must be finite and not zero.
func LeadingEigen(c *mat.SymDense, k int) ([]float64, *mat.Dense) {
	d := c.SymmetricDim()
	wide := k + max(k/8, 32)
	if d <= exactRows || wide >= d*9/10 {
		return decomposeWhole(c, k)
	}
	return iterateSubspace(c, k, wide)
}

// decomposeWhole decomposes the matrix completely and returns the k leading eigenpairs.
func decomposeWhole(c mat.Symmetric, k int) ([]float64, *mat.Dense) {
	rising, rows, ok := eigen.Symmetric(c)
	if !ok {
		panic("head: the symmetric eigenproblem did not converge on finite numbers") // never observed
	}
	d := c.SymmetricDim()
	values, vectors := make([]float64, k), mat.NewDense(d, k, nil)
	for j := range k {
		values[j] = rising[d-1-j]
		vectors.SetCol(j, rows.RawRowView(d-1-j))
	}
	return values, vectors
}

// iterateSubspace computes the leading eigenpairs by block subspace iteration, accelerated by a Chebyshev filter, with
// a final Rayleigh-Ritz step. Almost all of its time is spent in float64 matrix products, 2·d²·wide each. Well
// separated eigenpairs are exact. Eigenvectors near index k with almost equal eigenvalues may be mixed, but Ritz pairs
// still give a valid whitening, because VᵀCV is diagonal by construction. The start is a fixed random block, so that
// the result depends only on the matrix.
//
// Sources: Halko, Martinsson & Tropp, SIAM Review 2011, algorithm 4.4; Zhou & Saad, SIAM J. Matrix Anal. Appl.
// 2007, algorithm 3.1 (the filter: T_m maps the unwanted [0, a] into [-1, 1] and grows fast above).
func iterateSubspace(c *mat.SymDense, k, wide int) ([]float64, *mat.Dense) {
	d := c.SymmetricDim()
	full := mat.DenseCopyOf(c) // a general matrix, because products with a symmetric matrix have no fast kernel
	rng := rand.New(rand.NewPCG(0x77686974656e, uint64(d)))
	q, y := mat.NewDense(d, wide, nil), mat.NewDense(d, wide, nil)
	for i := range d {
		for j := range wide {
			q.Set(i, j, rng.NormFloat64())
		}
	}
	for range plainSteps {
		y.Mul(full, q)
		q, y = orthonormalBasis(y), q
	}
	var bounds mat.EigenSym
	bounds.Factorize(ritzMatrix(full, q), false)
	spread := bounds.Values(nil)
	top, edge := spread[wide-1], max(spread[0], 1e-9*spread[wide-1])
	degree := 1
	for degree < maxDegree && math.Pow(4*top/edge, float64(degree+1)) <= maxStretch {
		degree++
	}
	for range rounds {
		q = orthonormalBasis(filterChebyshev(full, q, edge, degree))
	}
	values, inner := decomposeWhole(ritzMatrix(full, q), k)
	var vectors mat.Dense
	vectors.Mul(q, inner)
	return values, &vectors
}

// ritzMatrix returns qᵀ·c·q.
func ritzMatrix(c, q *mat.Dense) *mat.SymDense {
	var cq, small mat.Dense
	cq.Mul(c, q)
	small.Mul(q.T(), &cq)
	p := q.RawMatrix().Cols
	out := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			out.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
		}
	}
	return out
}

// filterChebyshev returns T_m(2c/edge - I)·q by the recurrence T_m = 2x·T_{m-1} - T_{m-2}. It does not change q.
func filterChebyshev(c, q *mat.Dense, edge float64, degree int) *mat.Dense {
	step := func(y *mat.Dense, factor float64) *mat.Dense { // factor·(2c/edge - I)·y
		var out mat.Dense
		out.Mul(c, y)
		raw, in := out.RawMatrix().Data, y.RawMatrix().Data
		for i, v := range raw {
			raw[i] = factor * (2/edge*v - in[i])
		}
		return &out
	}
	before, now := q, step(q, 1)
	for range degree - 1 {
		next := step(now, 2)
		next.Sub(next, before)
		before, now = now, next
	}
	return now
}

// orthonormalBasis returns an orthonormal basis of the columns of q, by Householder reflections in place.
func orthonormalBasis(q *mat.Dense) *mat.Dense {
	raw := q.RawMatrix()
	tau, work := make([]float64, raw.Cols), make([]float64, 64*raw.Cols)
	lapack64.Geqrf(raw, tau, work, len(work))
	lapack64.Orgqr(raw, tau, work, len(work))
	return q
}
