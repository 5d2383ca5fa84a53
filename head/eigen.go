package head

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

const (
	// exactEigen is the largest dimension decomposed whole: gonum's symmetric solver takes about a second at
	// 640 and 13 s at 1280 on a busy core.
	exactEigen = 640
	// subspaceSteps is how often the subspace iteration applies the matrix.
	subspaceSteps = 12
)

// topEigen returns the k largest eigenvalues of a positive semidefinite matrix, falling, and their
// eigenvectors as columns (d×k).
func topEigen(c *mat.SymDense, k int) ([]float64, *mat.Dense) {
	d := c.SymmetricDim()
	wide := k + max(k/4, 32)
	if d <= exactEigen || wide >= d*9/10 {
		return wholeEigen(c, k)
	}
	return subspaceEigen(c, k, wide)
}

// wholeEigen decomposes the matrix and keeps the top k.
func wholeEigen(c mat.Symmetric, k int) ([]float64, *mat.Dense) {
	var eigen mat.EigenSym
	if !eigen.Factorize(c, true) {
		panic("head: the symmetric eigenproblem did not converge on finite numbers") // never seen; dsteqr gives up after 30·d sweeps
	}
	d := c.SymmetricDim()
	rising := eigen.Values(nil)
	var all mat.Dense
	eigen.VectorsTo(&all)
	values, vectors := make([]float64, k), mat.NewDense(d, k, nil)
	for j := range k {
		values[j] = rising[d-1-j]
		for i := range d {
			vectors.Set(i, j, all.At(i, d-1-j))
		}
	}
	return values, vectors
}

// subspaceEigen is block subspace iteration with a final Rayleigh-Ritz step: almost all of its time is
// float32 matrix products, 2·d²·wide each. The k leading pairs are exact where the spectrum falls;
// neighbours around place k, whose eigenvalues hardly differ, may be mixed, and a whitening by Ritz pairs is
// still one: VᵀCV is diagonal by construction. The start is a fixed random block, so the result is a function
// of the matrix alone.
// Source: Halko, Martinsson & Tropp, SIAM Review 2011, algorithm 4.4, with the basis conditioned after every
// product by a shifted Cholesky factor (Fukaya et al., SIAM J. Sci. Comput. 2020) instead of a QR.
func subspaceEigen(c *mat.SymDense, k, wide int) ([]float64, *mat.Dense) {
	d := c.SymmetricDim()
	a := features.NewMatrix(d, d)
	for i := range d {
		for j := range d {
			a.Data[i*d+j] = float32(c.At(i, j))
		}
	}
	rng := rand.New(rand.NewPCG(0x77686974656e, uint64(d)))
	q, y := features.NewMatrix(d, wide), features.NewMatrix(d, wide)
	for i := range q.Data {
		q.Data[i] = float32(rng.NormFloat64())
	}
	for range subspaceSteps {
		product(y, a, q)
		conditioned(q, y)
	}
	basis := orthonormal(q)
	var cb, small mat.Dense
	cb.Mul(c, basis)
	small.Mul(basis.T(), &cb)
	ritz := mat.NewSymDense(wide, nil)
	for i := range wide {
		for j := i; j < wide; j++ {
			ritz.SetSym(i, j, (small.At(i, j)+small.At(j, i))/2)
		}
	}
	values, inner := wholeEigen(ritz, k)
	var vectors mat.Dense
	vectors.Mul(basis, inner)
	return values, &vectors
}

// conditioned writes y·R⁻¹ to q, where RᵀR = yᵀy + shift·I: a basis of the same space, nearly orthonormal.
// The shift keeps the factor defined when y has lost directions to rounding or never had them.
func conditioned(q, y blas32.General) {
	p := y.Cols
	gram := features.NewMatrix(p, p)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, y, y, 0, gram)
	var trace float64
	for i := range p {
		trace += float64(gram.Data[i*p+i])
	}
	for shift := 1e-7 * trace; ; shift *= 10 {
		sym := mat.NewSymDense(p, nil)
		for i := range p {
			for j := i; j < p; j++ {
				sym.SetSym(i, j, float64(gram.Data[i*p+j]))
			}
			sym.SetSym(i, i, sym.At(i, i)+shift)
		}
		var chol mat.Cholesky
		if !chol.Factorize(sym) {
			continue
		}
		var upper, inverse mat.TriDense
		chol.UTo(&upper)
		if err := inverse.InverseTri(&upper); err != nil {
			continue // conditioned too badly: a larger shift
		}
		right := features.NewMatrix(p, p)
		for i := range p {
			for j := i; j < p; j++ {
				right.Data[i*p+j] = float32(inverse.At(i, j))
			}
		}
		product(q, y, right)
		return
	}
}

// orthonormal is a float64 orthonormal basis of the columns of q.
func orthonormal(q blas32.General) *mat.Dense {
	wide := mat.NewDense(q.Rows, q.Cols, nil)
	for i := range q.Rows {
		for j, v := range features.Row(q, i) {
			wide.Set(i, j, float64(v))
		}
	}
	raw, tau := wide.RawMatrix(), make([]float64, q.Cols)
	work := make([]float64, 64*q.Cols)
	lapack64.Geqrf(raw, tau, work, len(work))
	lapack64.Orgqr(raw, tau, work, len(work))
	return wide
}

// product overwrites c with a·b.
func product(c, a, b blas32.General) { blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) }
