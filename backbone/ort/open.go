package ort

import (
	"cmp"
	"os"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/internal/ortlib"
)

// This is the only init function in winnow. It makes any program that imports this package multiply large matrices
// with ONNX Runtime. A program that wants another BLAS calls blas32.Use in main or later.
func init() { serveProducts() }

// serveProducts installs ONNX Runtime's matrix products in blas32 and blas64, and thereby in Gorgonia (package head).
func serveProducts() {
	blas32.Use(served{})
	blas64.Use(served{})
}

// fast holds the BLAS for the process's large products. It is nil before the first large product, unless [Open] was
// called, and stays nil if ONNX Runtime cannot be opened.
var fast struct {
	blas    atomic.Pointer[BLAS]
	opening sync.Once
	mu      sync.Mutex
	prefer  Config
	err     error // why ONNX Runtime could not be opened for the first large product
}

// Prefer sets the Config with which the first large product opens ONNX Runtime, unless [Open] was called before.
func Prefer(cfg Config) {
	fast.mu.Lock()
	defer fast.mu.Unlock()
	fast.prefer = cfg
}

// Open finds and loads ONNX Runtime and uses it for the matrix products of blas32, blas64 and Gorgonia. cfg.Library is
// the library's file or folder; if it is empty, $WINNOW_ORT_LIB is used. If neither is set, Open uses the library that
// `winnow runtime install` installed, otherwise the system's library. Closing the runtime is optional; it ends fast
// products.
func Open(cfg Config) (*Runtime, error) {
	b, err := openProducts(cfg)
	if err != nil {
		return nil, err
	}
	fast.mu.Lock()
	defer fast.mu.Unlock()
	fast.blas.Store(b)
	if blas32.Implementation() != blas.Float32(served{}) {
		serveProducts()
	}
	return b.runtime, nil
}

// CPU returns the runtime that computes the process's matrix products. If no runtime is open, CPU opens one with the
// Config set by [Prefer].
func CPU() (*Runtime, error) {
	b := currentBLAS()
	fast.mu.Lock()
	defer fast.mu.Unlock()
	switch {
	case b == nil:
		return nil, fast.err
	case !b.isClosed():
		return b.runtime, nil
	}
	cfg := fast.prefer
	cfg.Device = ""
	b, err := openProducts(cfg)
	if err != nil {
		return nil, err
	}
	fast.blas.Store(b)
	return b.runtime, nil
}

func openProducts(cfg Config) (*BLAS, error) {
	// this is the only library package that reads the environment: a program without winnow's flags has no other way
	found, err := ortlib.Find(cmp.Or(cfg.Library, os.Getenv("WINNOW_ORT_LIB")))
	if err != nil {
		return nil, err
	}
	cfg.Library = found.Path
	rt, err := Load(cfg)
	if err != nil {
		return nil, err
	}
	return rt.BLAS()
}

// currentBLAS returns the BLAS for large products, or nil if there is none. The first call opens ONNX Runtime (0.1 s).
// It serves even the first large product: otherwise the bits of results would depend on the order of goroutines.
func currentBLAS() *BLAS {
	if b := fast.blas.Load(); b != nil {
		return b
	}
	fast.opening.Do(func() {
		fast.mu.Lock()
		defer fast.mu.Unlock()
		if fast.blas.Load() != nil {
			return
		}
		cfg := fast.prefer
		cfg.Device = "" // products are always computed on the CPU
		b, err := openProducts(cfg)
		if err != nil {
			fast.err = err
			return
		}
		fast.blas.Store(b)
	})
	return fast.blas.Load()
}

// served is gonum's BLAS, except that ONNX Runtime computes large products if it can be opened.
type served struct{ gonum.Implementation }

func (p served) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int,
	b []float32, ldb int, beta float32, c []float32, ldc int) {
	if isLargeProduct(m, n, k) {
		if f := currentBLAS(); f != nil {
			f.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			return
		}
	}
	p.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (p served) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	if isLargeProduct(m, n, k) {
		if f := currentBLAS(); f != nil {
			f.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			return
		}
	}
	p.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// isLargeProduct reports whether ONNX Runtime computes a product of this size faster than gonum.
func isLargeProduct(m, n, k int) bool {
	return m > 0 && n > 0 && k > 0 && float64(m)*float64(n)*float64(k) >= smallest
}
