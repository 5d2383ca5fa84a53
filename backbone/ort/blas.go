package ort

import (
	"errors"
	"fmt"
	"sync"
	"time"

	ortgo "github.com/yalue/onnxruntime_go"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// smallest is the number of multiplications m·n·k from which ONNX Runtime's product is faster than gonum's. Measured
// on 2 cores, including all overhead: 16³ takes 1.4–2.1 µs in gonum and 2.8–4.7 µs in ONNX Runtime, 32³ takes 8.5–10
// µs and 3.6–5.4 µs. Both are equally fast near 22³.
const smallest = 22 * 22 * 22

// blasSpin keeps worker threads awake between products in quick succession (see SessionOptions).
const blasSpin = 20 * time.Microsecond

// BLAS is gonum's BLAS, except that ONNX Runtime computes Sgemm and Dgemm. Products too small to gain from it stay
// gonum's. BLAS can be passed to blas32.Use and blas64.Use ([Open] does so) and may be called from several goroutines.
// With the same number of threads its results are equal bit for bit. It always computes on the CPU: the matrices are
// in Go's memory, and copying them to a device costs more than these products.
//
// BLAS differs from gonum in one case: 0·Inf and 0·NaN are NaN (gonum skips zeros of A). As in every BLAS, C is not
// read if beta = 0, and A and B are not read if alpha = 0.
type BLAS struct {
	gonum.Implementation
	runtime *Runtime
	single  products[float32]
	double  products[float64]
}

var (
	_ blas.Float32    = (*BLAS)(nil)
	_ blas.Float64    = (*BLAS)(nil)
	_ blas.Complex64  = (*BLAS)(nil)
	_ blas.Complex128 = (*BLAS)(nil)
)

// BLAS returns the runtime's only BLAS. After Close it computes in Go.
func (r *Runtime) BLAS() (*BLAS, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blas != nil {
		return r.blas, nil
	}
	b := &BLAS{runtime: r}
	b.single.runtime, b.single.kind = r, Float
	b.double.runtime, b.double.kind = r, Double
	if b.single.productSession(0, 0) == nil {
		return nil, errors.Join(fmt.Errorf("ort: blas: %w", b.single.failed), b.closeBLAS())
	}
	r.blas = b
	return b, nil
}

func (b *BLAS) closeBLAS() error {
	return errors.Join(b.single.closeSessions(), b.double.closeSessions())
}

func (b *BLAS) isClosed() bool {
	b.single.mu.RLock()
	defer b.single.mu.RUnlock()
	return b.single.runtime == nil
}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C in float32.
func (b *BLAS) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int,
	bb []float32, ldb int, beta float32, c []float32, ldc int) {
	if !b.single.computeGemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc) {
		b.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
	}
}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C in float64.
func (b *BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int,
	bb []float64, ldb int, beta float64, c []float64, ldc int) {
	if !b.double.computeGemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc) {
		b.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, bb, ldb, beta, c, ldc)
	}
}

// products holds the four sessions of one element type: A as given or transposed, and B likewise. Several goroutines
// may run a session at once. The lock prevents closeSessions from destroying a session in use.
type products[T float32 | float64] struct {
	mu       sync.RWMutex
	runtime  *Runtime // nil: closed
	kind     ElementType
	sessions [2][2]*ortgo.DynamicAdvancedSession // opened at their first product: few programs need all four
	failed   error                               // error of the last session that could not be opened
	scratch  sync.Pool                           // *[]T values: packed operands, and products not yet in C
}

// productSession returns a session, which it opens if necessary, or nil if the session is closed or cannot be opened.
// The caller must not hold a lock of p.
func (p *products[T]) productSession(transA, transB int) *ortgo.DynamicAdvancedSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &p.sessions[transA][transB]
	if *s != nil || p.runtime == nil || p.failed != nil {
		return *s
	}
	opts, err := p.runtime.newSessionOptions(SessionOptions{CPU: true, Spin: blasSpin})
	if err == nil {
		defer opts.Destroy()
		model := gemmModel(p.kind, transA == 1, transB == 1)
		*s, err = ortgo.NewDynamicAdvancedSessionWithONNXData(model, []string{"A", "B"}, []string{"Y"}, opts)
	}
	if err != nil {
		*s, p.failed = nil, err
	}
	return *s
}

func (p *products[T]) closeSessions() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runtime = nil
	for i := range p.sessions {
		for j, s := range p.sessions[i] {
			if s != nil {
				err = errors.Join(err, s.Destroy())
				p.sessions[i][j] = nil
			}
		}
	}
	return err
}

// computeGemm computes the product. It returns false and changes no data if gonum must compute it: the product is too
// small, the BLAS is closed, or the arguments are invalid and gonum's panic describes the reason.
func (p *products[T]) computeGemm(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int,
	b []T, ldb int, beta T, c []T, ldc int) bool {
	if !isLargeProduct(m, n, k) || alpha == 0 {
		return false
	}
	A := matrix[T]{a, m, k, lda}
	B := matrix[T]{b, k, n, ldb}
	transA, ok := A.transposeShape(tA)
	transB, okB := B.transposeShape(tB)
	C := matrix[T]{c, m, n, ldc}
	if !ok || !okB || !A.isValidMatrix() || !B.isValidMatrix() || !C.isValidMatrix() {
		return false
	}
	direct := beta == 0 && ldc == n
	out := c
	if !direct {
		buffer := p.borrowScratch(m * n)
		defer p.scratch.Put(buffer)
		out = *buffer
	}
	if !p.computeProduct(transA, transB, A, B, out[:m*n], m, n) {
		return false
	}
	if !direct || alpha != 1 {
		C.updateMatrix(beta, alpha, out)
	}
	return true
}

// computeProduct computes out = op(A)·op(B) with contiguous rows, or returns false if it cannot.
func (p *products[T]) computeProduct(transA, transB int, A, B matrix[T], out []T, m, n int) bool {
	p.mu.RLock()
	session := p.sessions[transA][transB]
	if session == nil {
		p.mu.RUnlock()
		p.productSession(transA, transB)
		p.mu.RLock()
		session = p.sessions[transA][transB]
	}
	defer p.mu.RUnlock()
	if session == nil {
		return false
	}
	var values [3]ortgo.Value
	for i, x := range []matrix[T]{A, B, {out, m, n, n}} {
		data := x.data
		if x.stride != x.cols {
			buffer := p.borrowScratch(x.rows * x.cols)
			defer p.scratch.Put(buffer)
			data = *buffer
			x.packRows(data)
		}
		v, err := ortgo.NewTensor(ortgo.Shape{int64(x.rows), int64(x.cols)}, data[:x.rows*x.cols])
		if err != nil {
			return false
		}
		defer v.Destroy()
		values[i] = v
	}
	return session.Run(values[:2], values[2:]) == nil
}

// borrowScratch returns a scratch slice of this length with arbitrary contents.
func (p *products[T]) borrowScratch(size int) *[]T {
	buffer, ok := p.scratch.Get().(*[]T)
	if !ok {
		buffer = new([]T)
	}
	if cap(*buffer) < size {
		*buffer = make([]T, size)
	}
	*buffer = (*buffer)[:size]
	return buffer
}

// matrix is a row-major matrix; its rows are stride apart.
type matrix[T float32 | float64] struct {
	data               []T
	rows, cols, stride int
}

// transposeShape sets the shape to that in memory. For a transpose it swaps rows and columns and returns 1.
func (x *matrix[T]) transposeShape(t blas.Transpose) (int, bool) {
	switch t {
	case blas.NoTrans:
		return 0, true
	case blas.Trans, blas.ConjTrans:
		x.rows, x.cols = x.cols, x.rows
		return 1, true
	}
	return 0, false
}

func (x *matrix[T]) isValidMatrix() bool {
	return x.stride >= x.cols && len(x.data) >= x.stride*(x.rows-1)+x.cols
}

// packRows copies the rows to dst without gaps.
func (x *matrix[T]) packRows(dst []T) {
	for i := range x.rows {
		copy(dst[i*x.cols:(i+1)*x.cols], x.data[i*x.stride:])
	}
}

// updateMatrix sets x = alpha·p + beta·x; p is contiguous. If beta is 0, old values of x, even NaN, have no effect. p
// may be x.
func (x *matrix[T]) updateMatrix(beta, alpha T, p []T) {
	for i := range x.rows {
		dst := x.data[i*x.stride : i*x.stride+x.cols]
		src := p[i*x.cols : (i+1)*x.cols]
		switch {
		case beta == 0 && alpha == 1:
			copy(dst, src)
		case beta == 0:
			for j, v := range src {
				dst[j] = alpha * v
			}
		case beta == 1 && alpha == 1:
			for j, v := range src {
				dst[j] += v
			}
		default:
			for j, v := range src {
				dst[j] = alpha*v + beta*dst[j]
			}
		}
	}
}
