package losses

import "math"

// RowWise is a loss that is made of terms of single rows:
//
//	L = 1/n Σ_i ℓ_i
//
// ℓ_i is what the loss adds up for row i as an anchor — its pairs or triplets, its distances to proxies, its
// cross entropy — times n over the number that the whole sum is divided by. Pairs count where the row is the anchor:
// in a batch that is compared with itself a pair of rows is in the terms of both. What a loss adds that belongs to no
// row (a regulariser of proxies) is in no term. A row that is compared with no other of its label has no term, as
// nothing was asked of its label: NaN.
//
// Terms cost no second evaluation: the chain adds up its rows one by one instead of block by block.
type RowWise interface {
	Loss
	// NoteTerms makes every Eval from now on note the terms, and reports whether the loss has any: one whose settings
	// make it a function of the batch as a whole does not.
	NoteTerms() bool
	// Terms are those of the last Eval, valid until the next; nil where it had nothing to compare.
	Terms() []float64
}

// undivided is a simLoss that is one number of all rows, though its gradient is computed by blocks of rows.
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

// divide turns the sums of the rows into terms; divisor is the loss's.
func (c *chain) divide(divisor float64) {
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

// silence takes the terms from the anchors without a positive.
func (c *chain) silence(p *pairs) {
	for i := range c.noted {
		if !p.hasPositive(i) {
			c.noted[i] = math.NaN()
		}
	}
}

// hasPositive reports whether P(i) has a member.
func (p *pairs) hasPositive(i int) bool {
	for j := range p.cols {
		if p.positive(i, j) {
			return true
		}
	}
	return false
}
