package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/viterin/vek/vek32"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// simLoss is a loss that is a function of similarities, as most losses are. S and dS are blocks of len(p.rows) rows of
// len(p.cols) similarities. The loss is Σ sum / Σ terms over all blocks, or 0 if there are no terms.
//
// evalPairs returns the two sums over its block and, unless dS is nil, overwrites dS with ∂sum/∂S (terms is treated as
// a constant). Entries of S that are not a pair, such as a row with itself, must get 0. A loss whose rows depend on
// each other (quadruplets) sets chain.whole and receives a single block. A loss that is a sum over columns
// (proxy-anchor) sets chain.columns and receives all rows of some columns.
type simLoss interface {
	evalPairs(dS, S []float64, p *pairs) (sum, terms float64)
}

// surveyor is a simLoss that needs counts or sums over all rows before it can evaluate any row. surveyPairs receives
// every block in order, without gradients, before evalPairs receives the first block. A block with first == 0 starts a
// new pass. This is cheaper than chain.whole if the rows need only a few numbers from each other.
type surveyor interface {
	simLoss
	surveyPairs(S []float64, p *pairs)
}

// separate is a simLoss whose evalPairs changes only dS, so that several goroutines can evaluate blocks at once.
type separate interface {
	simLoss
	separate()
}

// plainTerms returns the terms of a loss that is not divided by a count: they add up to 1 over all blocks.
func (p *pairs) plainTerms() float64 {
	if p.first == 0 && p.left == 0 {
		return 1
	}
	return 0
}

// chain computes z → S → loss → dS for any simLoss. The product is float32. All values between S and dS are float64,
// one block of rows (or columns) at a time, so that the float64 copies stay in the cache. dS overwrites S.
type chain struct {
	fn      simLoss
	whole   bool              // fn needs all rows in one block
	columns bool              // fn needs all rows of a column in one block
	views   bool              // rows of one image are views of it and positives of each other
	exact   bool              // fn uses distances: distances of near pairs are computed from differences
	draw    func() *rand.Rand // nil if fn draws no random numbers

	s       blas32.General // n×r
	in, out []float64      // one block of S and of dS
	block   pairs
	scale   []float64 // proxies: 1/‖p_j‖, so that S = z·p̂; nil otherwise
	pull    []float64 // proxies: Σ_i dS_ij·s_ij

	listing bool // keep a list of the non-zero entries of dS while they are few
	entries nonzeros

	workers []chain // copies of the chain with their own blocks, which share the rows; see runRows
	results []blockSums
}

// blockSums holds the sums of one block.
type blockSums struct{ sum, terms float64 }

// viewed is a loss that can treat rows of one image as views of it.
type viewed interface{ showViews() }

func (c *chain) showViews() { c.views = true }

// blockSize is the number of similarities converted to float64 at a time: 2 blocks × 8 bytes × 8192 = 128 KiB.
const blockSize = 8192

// narrowest is the smallest number of columns in a block of columns: one cache line of float32.
const narrowest = 16

// nearby is the similarity above which the distance 2 - 2s is too imprecise, because s is a float32.
const nearby = 1 - 1e-3

// runChain evaluates the loss and, if grad is set, leaves dS in c.s. a is n×d, b is r×d; n, r > 0. If any row is not
// finite, all results are NaN.
func (c *chain) runChain(a, b blas32.General, whole pairs, grad bool) (sum, terms float64) {
	n, r := a.Rows, b.Rows
	c.s = features.Resize(c.s, n, r)
	c.entries.few = false
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c.s)
	if !c.isFiniteBlock() {
		for k := range c.s.Data {
			c.s.Data[k] = float32(math.NaN())
		}
		return math.NaN(), 1
	}
	if c.draw != nil {
		whole.draw = c.draw()
	}
	if c.listing && grad {
		c.entries.beginList(n, n*r/sparsest)
	}
	high, wide := c.blockShape(n, r)
	c.in = growSlice(c.in, high*wide)
	if grad {
		c.out = growSlice(c.out, high*wide)
	}
	if fn, ok := c.fn.(surveyor); ok {
		for first := 0; first < n; first += high {
			s := c.cutBlock(a, b, whole, first, high, 0, r)
			fn.surveyPairs(s, &c.block)
		}
	}
	if _, ok := c.fn.(separate); ok && wide == r {
		if k := min(runtime.GOMAXPROCS(0), (n+high-1)/high, n*r/rowsWorth); k > 1 {
			return c.runRows(k, a, b, whole, high, grad)
		}
	}
	for first := 0; first < n; first += high {
		for left := 0; left < r; left += wide {
			s := c.cutBlock(a, b, whole, first, high, left, wide)
			more, count := c.evalPart(s, grad)
			sum += more
			terms += count
		}
	}
	return sum, terms
}

// rowsWorth is the number of similarities that justifies starting a goroutine: 0.2 ms of work.
const rowsWorth = 1 << 16

// runRows evaluates blocks of high whole rows with k goroutines. Blocks and the order of adding their sums are the
// same as in runChain, so the results are equal bit for bit.
func (c *chain) runRows(k int, a, b blas32.General, whole pairs, high int, grad bool) (sum, terms float64) {
	n, r := a.Rows, b.Rows
	blocks := (n + high - 1) / high
	c.results = growSlice(c.results, blocks)
	for len(c.workers) < k {
		c.workers = append(c.workers, chain{})
	}
	var all sync.WaitGroup
	for i := range c.workers[:k] {
		w := &c.workers[i]
		in, out, entries := w.in, w.out, w.entries
		*w = *c
		w.in, w.out, w.entries, w.workers = growSlice(in, high*r), growSlice(out, high*r), entries, nil
		from, to := i*blocks/k, (i+1)*blocks/k
		if w.entries.few = c.entries.few; w.entries.few {
			w.entries.beginList((to-from)*high, c.entries.most)
		}
		all.Go(func() {
			for at := from; at < to; at++ {
				s := w.cutBlock(a, b, whole, at*high, high, 0, r)
				more, count := w.evalPart(s, grad)
				c.results[at] = blockSums{more, count}
			}
		})
	}
	all.Wait()
	for _, of := range c.results[:blocks] {
		sum += of.sum
		terms += of.terms
	}
	for i := range c.workers[:k] {
		c.entries.joinList(&c.workers[i].entries)
	}
	return sum, terms
}

// cutBlock selects the block whose upper left corner is row first, column left, with up to high rows and up to wide
// columns. It returns the block's similarities.
func (c *chain) cutBlock(a, b blas32.General, whole pairs, first, high, left, wide int) []float64 {
	p := &c.block
	*p = whole
	p.first, p.rows = first, whole.rows[first:min(first+high, len(whole.rows))]
	p.left, p.cols = left, whole.cols[left:min(left+wide, len(whole.cols))]
	s := c.in[:len(p.rows)*len(p.cols)]
	c.widenBlock(s, a, b, p)
	return s
}

// blockShape returns the number of rows and columns of a block.
func (c *chain) blockShape(n, r int) (high, wide int) {
	switch {
	case c.whole:
		return n, r
	case c.columns:
		return n, min(r, max(narrowest, blockSize/n))
	}
	return max(1, min(n, blockSize/r)), r
}

// evalPart evaluates the block and, if grad is set, leaves its dS in c.s.
func (c *chain) evalPart(s []float64, grad bool) (sum, terms float64) {
	if !grad {
		return c.fn.evalPairs(nil, s, &c.block)
	}
	dS := c.out[:len(s)]
	sum, terms = c.fn.evalPairs(dS, s, &c.block)
	c.narrowBlock(dS, s, &c.block)
	return sum, terms
}

// isFiniteBlock checks one similarity of every row and every column. That detects every row of a or b that is not
// finite; comparisons such as s > λ would silently ignore NaN.
func (c *chain) isFiniteBlock() bool {
	bad := false
	for i := range c.s.Rows {
		v := c.s.Data[i*c.s.Stride]
		bad = bad || v-v != 0
	}
	for _, v := range c.s.Data[:c.s.Cols] {
		bad = bad || v-v != 0
	}
	return !bad
}

// widenBlock converts a block of c.s to float64 cosines.
func (c *chain) widenBlock(s []float64, a, b blas32.General, p *pairs) {
	r := len(p.cols)
	for i := range p.rows {
		out, in := s[i*r:(i+1)*r], c.blockRow(i, p)
		switch {
		case c.scale != nil:
			in, out := in[:r], out[:r]
			for j, k := range c.scale[p.left:][:r] {
				out[j] = float64(in[j]) * k
			}
		case c.exact:
			for j, v := range in {
				out[j] = float64(v)
				if v > nearby && !(p.self && p.left+j == p.first+i) {
					out[j] = 1 - squaredDistance(features.Row(a, p.first+i), features.Row(b, p.left+j))/2
				}
			}
		default:
			for j, v := range in {
				out[j] = float64(v)
			}
		}
	}
}

// blockRow returns row i of the current block of c.s.
func (c *chain) blockRow(i int, p *pairs) []float32 {
	return features.Row(c.s, p.first+i)[p.left : p.left+len(p.cols)]
}

// narrowBlock writes a block of dS over the similarities in c.s.
func (c *chain) narrowBlock(dS, s []float64, p *pairs) {
	r := len(p.cols)
	for i := range p.rows {
		out, d := c.blockRow(i, p), dS[i*r:(i+1)*r]
		switch {
		case c.entries.few:
			c.entries.narrowListed(out, d)
			continue
		case c.scale == nil:
			narrowFloats(out, d)
			continue
		}
		scale := c.scale[p.left : p.left+r]
		s, pull, out := s[i*r:][:len(scale)], c.pull[p.left:][:len(scale)], out[:len(scale)]
		for j, d := range d[:len(scale)] {
			out[j] = float32(d * scale[j])
			pull[j] += d * s[j]
		}
	}
}

// squaredDistance returns ‖u - v‖², computed from the differences: exactly 0 for equal vectors.
func squaredDistance(u, v []float32) float64 {
	var sum float64
	v = v[:len(u)]
	for k, x := range u {
		d := float64(x) - float64(v[k])
		sum += d * d
	}
	return sum
}

// addTransposed replaces the square matrix W by W + Wᵀ, in tiles that fit the cache.
func addTransposed(w blas32.General) {
	const tile = 32
	n := w.Rows
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := i0; j0 < n; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				for j := max(j0, i); j < min(j0+tile, n); j++ {
					both := w.Data[i*w.Stride+j] + w.Data[j*w.Stride+i]
					w.Data[i*w.Stride+j], w.Data[j*w.Stride+i] = both, both
				}
			}
		}
	}
}

// rowOfBlock returns row i of a block with r columns, or nil if block is nil.
func rowOfBlock(block []float64, i, r int) []float64 {
	if block == nil {
		return nil
	}
	return block[i*r : (i+1)*r]
}

// growSlice is a short name for [features.Grow], which most losses call several times.
func growSlice[T any](s []T, n int) []T { return features.Grow(s, n) }

// scaleMatrix multiplies a matrix, which may be a view, by k with vector instructions. gonum's Scal and the scaling
// factor of the products would use scalar loops.
func scaleMatrix(m blas32.General, k float32) {
	for i := range m.Rows {
		vek32.MulNumber_Inplace(features.Row(m, i), k)
	}
}

// clearMatrix sets a matrix, which may be a view, to 0.
func clearMatrix(m blas32.General) {
	for i := range m.Rows {
		clear(features.Row(m, i))
	}
}

func checkGrad(grad *blas32.General, z features.Set) {
	if grad != nil && (grad.Rows != z.Len() || grad.Cols != z.Dim()) {
		panic(fmt.Sprintf("losses: the gradient is %d×%d, expected %d×%d like the batch", grad.Rows, grad.Cols,
			z.Len(), z.Dim()))
	}
}
