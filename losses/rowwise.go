package losses

import "math"

// RowWise is a loss that is a mean of one term per row:
//
//	L = 1/n Σ_i ℓ_i
//
// ℓ_i is the sum for row i as an anchor (its pairs or triplets, its distances to proxies, its cross entropy),
// times n over the divisor of the whole loss. A pair counts for the row that is its anchor: in a batch compared
// with itself, a pair of rows is in the terms of both. Parts of a loss that belong to no row (a regulariser of
// proxies) are in no term. A row without another of its label to compare with has the term NaN, because the
// loss says nothing about its label.
//
// Terms need no second evaluation: the chain adds up its rows one by one instead of block by block.
type RowWise interface {
	Loss
	// NoteTerms makes every later Eval record the terms. It reports whether the loss has terms: some settings
	// make a loss a function of the batch as a whole.
	NoteTerms() bool
	// Terms returns the terms of the last Eval, valid until the next. It is nil if there was nothing to
	// compare.
	Terms() []float64
}

// undivided is a simLoss that is a single number over all rows, though its gradient is computed by blocks of
// rows.
type undivided interface{ undivided() }

func (*circleGlobal) undivided() {}

// NoteTerms implements [RowWise].
func (c *chain) NoteTerms() bool {
	_, whole := c.fn.(undivided)
	c.noting = !c.whole && !c.columns && !whole
	return c.noting
}

// Terms implements [RowWise].
func (c *chain) Terms() []float64 { return c.noted }

// divideTerms turns the sums of the rows into terms; divisor is that of the loss.
func (c *chain) divideTerms(divisor float64) {
	if !c.noting {
		return
	}
	k := 0.0
	if divisor > 0 {
		k = float64(len(c.noted)) / divisor
	}
	for i := range c.noted {
		c.noted[i] *= k
	}
}

// silenceLonely sets the terms of anchors without a positive to NaN.
func (c *chain) silenceLonely(p *pairs) {
	for i := range c.noted {
		if !p.hasPositive(i) {
			c.noted[i] = math.NaN()
		}
	}
}

// hasPositive reports whether P(i) is not empty.
func (p *pairs) hasPositive(i int) bool {
	for j := range p.cols {
		if p.isPositive(i, j) {
			return true
		}
	}
	return false
}
