package head

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/gorgonia"
)

// shareProducts makes Gorgonia, in the whole process, multiply matrices with the current blas32 and blas64.
var shareProducts = sync.OnceFunc(func() { gorgonia.Use(products{}) })

// products is gonum's BLAS, except that its matrix products call the current implementations of blas32 and blas64.
type products struct{ gonum.Implementation }

func (products) Sgemm(
	tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32,
	c []float32, ldc int,
) {
	blas32.Implementation().Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (products) Dgemm(
	tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64,
	c []float64, ldc int,
) {
	blas64.Implementation().Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}
