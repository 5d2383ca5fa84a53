package losses

import (
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// nonzeros lists the non-zero entries of W = ∂sum/∂S while they are few. Losses with a margin give most vectors of a
// bank no gradient. Computing W·v row by row is then cheaper than a matrix product, which reads the whole bank again.
//
// Measured with 64 rows, 512 dimensions, a bank of 8,192 and 2 cores (BenchmarkNonzeros): it takes a third of the
// product's time if one entry in 100 is not 0, and the same time at one in 30. The gain is larger when other work
// occupies the cores and the cache.
type nonzeros struct {
	few  bool    // whether all entries so far are listed
	cols []int32 // columns of the entries, row by row
	ends []int   // end of each row in cols
	most int
}

// sparsest is the reciprocal of the largest density for which the list is used.
const sparsest = 32

// beginList clears the list and reserves memory for at most that many entries of n rows.
func (f *nonzeros) beginList(n, most int) {
	f.few, f.most = true, most
	f.cols, f.ends = growSlice(f.cols, f.most)[:0], growSlice(f.ends, n)[:0]
}

// joinList appends the list of the following rows.
func (f *nonzeros) joinList(next *nonzeros) {
	f.few = f.few && next.few && len(f.cols)+len(next.cols) <= f.most
	if !f.few {
		return
	}
	before := len(f.cols)
	f.cols = append(f.cols, next.cols...)
	for _, end := range next.ends {
		f.ends = append(f.ends, before+end)
	}
}

// narrowListed writes a row of dS to out as float32, and lists its non-zero entries.
func (f *nonzeros) narrowListed(out []float32, d []float64) {
	cols := f.cols
	out = out[:len(d)]
	for j, v := range d {
		out[j] = float32(v)
		if v != 0 { // also true for NaN
			if len(cols) == f.most {
				f.few = false
				narrowFloats(out[j:], d[j:])
				return
			}
			cols = append(cols, int32(j))
		}
	}
	f.cols, f.ends = cols, append(f.ends, len(cols))
}

// narrowFloats writes a row of dS to out as float32.
func narrowFloats(out []float32, d []float64) {
	out = out[:len(d)]
	for j, v := range d {
		out[j] = float32(v)
	}
}

// multiplySparse writes scale·W·v to dst, sharing the rows among all cores. The result does not depend on the number
// of cores.
func (f *nonzeros) multiplySparse(dst, w, v blas32.General, scale float32) {
	const worth = 1 << 20 // multiplications that justify starting a goroutine
	n := min(runtime.GOMAXPROCS(0), w.Rows, len(f.cols)*v.Cols/worth)
	if n < 2 {
		f.multiplyPart(dst, w, v, scale, 0, w.Rows)
		return
	}
	var wait sync.WaitGroup
	for k := range n {
		wait.Go(func() { f.multiplyPart(dst, w, v, scale, k*w.Rows/n, (k+1)*w.Rows/n) })
	}
	wait.Wait()
}

// multiplyPart computes the rows from … end of multiplySparse.
func (f *nonzeros) multiplyPart(dst, w, v blas32.General, scale float32, from, end int) {
	first := 0
	if from > 0 {
		first = f.ends[from-1]
	}
	for i := from; i < end; i++ {
		sum, weights := blas32.Vector{N: v.Cols, Inc: 1, Data: features.Row(dst, i)}, features.Row(w, i)
		clear(sum.Data)
		for _, j := range f.cols[first:f.ends[i]] {
			blas32.Axpy(scale*weights[j], blas32.Vector{N: v.Cols, Inc: 1, Data: features.Row(v, int(j))}, sum)
		}
		first = f.ends[i]
	}
}
