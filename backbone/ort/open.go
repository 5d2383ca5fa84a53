package ort

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/internal/ortlib"
)

// The one init of the house: a program that links this package multiplies with ONNX Runtime without a call, and a
// program that gives blas32 an implementation of its own, in main or later, replaces this one.
func init() { serve() }

// serve puts the process's products behind blas32 and blas64, and so behind Gorgonia (package head).
func serve() {
	blas32.Use(served{})
	blas64.Use(served{})
}

// fast is the BLAS that computes the process's large products: nil before the first of them, unless [Open] was called,
// and for good where ONNX Runtime could not be opened.
var fast struct {
	blas    atomic.Pointer[BLAS]
	opening sync.Once
	mu      sync.Mutex
	prefer  Config
	err     error // why the first large product could not open ONNX Runtime
}

// Prefer sets how the first large product opens ONNX Runtime where [Open] has not been called before it. Without
// Prefer that is Config{}.
func Prefer(cfg Config) {
	fast.mu.Lock()
	defer fast.mu.Unlock()
	fast.prefer = cfg
}

// Open finds ONNX Runtime, loads it and lets it compute the matrix products of blas32, blas64 and Gorgonia. The
// library is the file, or is in the folder, cfg.Library, else $WINNOW_ORT_LIB; where neither is set it is what `winnow runtime
// install` installed, else the system's. Close the runtime when no product is to be fast any more, or never.
func Open(cfg Config) (*Runtime, error) {
	b, err := openProducts(cfg)
	if err != nil {
		return nil, err
	}
	fast.mu.Lock()
	defer fast.mu.Unlock()
	fast.blas.Store(b)
	if blas32.Implementation() != blas.Float32(served{}) {
		serve()
	}
	return b.runtime, nil
}

func openProducts(cfg Config) (*BLAS, error) {
	// Here alone a room reads the environment: a program without winnow's flags has no other way to say it.
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

// current returns the BLAS for large products, opening ONNX Runtime for the first of them (0.1 s), or nil where there is
// none. Waiting for more work than one product would let the order of goroutines decide about bits.
func current() *BLAS {
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
		cfg.Device = "" // products are always the CPU's
		b, err := openProducts(cfg)
		if err != nil {
			fast.err = err
			return
		}
		fast.blas.Store(b)
	})
	return fast.blas.Load()
}

// served is gonum's BLAS with the large products of ONNX Runtime where that can be opened.
type served struct{ gonum.Implementation }

func (p served) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if large(m, n, k) {
		if f := current(); f != nil {
			f.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			return
		}
	}
	p.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (p served) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if large(m, n, k) {
		if f := current(); f != nil {
			f.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
			return
		}
	}
	p.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// large reports whether a product gains by being ONNX Runtime's.
func large(m, n, k int) bool {
	return m > 0 && n > 0 && k > 0 && float64(m)*float64(n)*float64(k) >= smallest
}

// Products describes what computes the large matrix products of this process.
type Products struct {
	Product string // "ONNX Runtime 1.29.0", "gonum", or the type of an implementation that the program gave blas32
	Library string // path of ONNX Runtime's library, if it is that
	Threads int    // of a product, if it is that
	Why     string // why it is not ONNX Runtime, else ""
}

// Doctor returns what computes large matrix products from now on, and opens ONNX Runtime to know it.
func Doctor() Products {
	if b := blas32.Implementation(); b != blas.Float32(served{}) {
		return Products{Product: fmt.Sprintf("%T", b), Why: "the program gave it to blas32"}
	}
	b := current()
	fast.mu.Lock()
	defer fast.mu.Unlock()
	switch {
	case b == nil:
		return Products{Product: "gonum", Why: fast.err.Error()}
	case b.closed():
		return Products{Product: "gonum", Why: "ort: the runtime was closed"}
	}
	return Products{Product: "ONNX Runtime " + b.runtime.version, Library: b.runtime.library, Threads: b.runtime.threads}
}

// String returns one line for people.
func (p Products) String() string {
	if p.Why != "" {
		return p.Product + " (" + p.Why + ")"
	}
	return fmt.Sprintf("%s, %s, %d threads", p.Product, p.Library, p.Threads)
}
