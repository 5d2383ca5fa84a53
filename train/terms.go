package train

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/losses"
)

// Term is one term of the objective L = Σ weight·loss(z, reference). The reference is the batch itself or the
// memory bank, whose vectors are constants. The memory contrastive loss (PRISM, equation 17) consists of two terms:
// the contrastive loss against the batch, and the contrastive loss against the bank.
type Term struct {
	Name   string // unique in a run; names the term in the metrics
	Loss   losses.Loss
	Params []*features.Param // the loss's own parameters, or nil
	Weight float64
	Bank   bool // the reference is the bank; an empty bank gives 0
	Start  int  // the term is 0 in the steps before this one; the first step is 1

	Unlabelled bool // the loss also receives the unlabelled rows of the batch
}

// Chooser is a loss that selects the rows of a batch that it learns from. It must be the only term of a run, and the
// run must not have a filter.
type Chooser interface {
	losses.Loss
	Chosen() []int // positions of the rows selected in the last Eval, rising; valid until the next Eval
}

// objective evaluates the terms and sums their gradients. It reuses its buffers.
type objective struct {
	terms  []Term
	values []float64 // of the last eval, before weighting
	even   float64   // of the last eval: the value with each sum over pairs divided by the number of pairs
	one    []float32 // scratch for the gradient of one term
	params []*features.Param
}

func newObjective(terms []Term) *objective {
	o := &objective{terms: terms, values: make([]float64, len(terms))}
	for _, t := range terms {
		o.params = append(o.params, t.Params...)
	}
	return o
}

// evalObjective overwrites grad, n×d, with ∂L/∂z and the gradients of the losses' own parameters, and returns L. The
// first labelled rows of z have a label. Terms without Unlabelled receive only these rows. active is false if all
// gradients are zero.
func (o *objective) evalObjective(
	grad blas32.General, z features.Set, labelled int, bank *features.Bank, step int,
) (value float64, active bool) {
	clear(grad.Data[:grad.Rows*grad.Cols])
	o.even = 0
	if need := grad.Rows * grad.Cols; len(o.one) < need {
		o.one = make([]float32, need)
	}
	for i, t := range o.terms {
		o.values[i] = 0
		ref, ready := t.termReference(bank, step)
		if !ready || labelled == 0 {
			for _, p := range t.Params {
				clear(p.Grad)
			}
			continue
		}
		seen := z
		if !t.Unlabelled {
			seen = frontRows(z, labelled)
		}
		one := blas32.General{Rows: seen.Len(), Cols: grad.Cols, Stride: grad.Stride, Data: o.one}
		o.values[i] = t.Loss.Eval(&one, seen, ref)
		value += t.Weight * o.values[i]
		o.even += t.Weight * o.values[i] / t.termPairs(seen.Len(), ref)
		n := one.Rows * one.Cols
		addScaledRow(t.Weight, one.Data[:n], grad.Data[:n])
		for _, p := range t.Params {
			scaleVector(t.Weight, p.Grad)
			active = active || !allZero(p.Grad)
		}
	}
	return value, active || !allZero(grad.Data[:grad.Rows*grad.Cols])
}

// frontRows returns a view of the first n rows.
func frontRows(z features.Set, n int) features.Set {
	if n == z.Len() {
		return z
	}
	z.X.Rows, z.Labels, z.IDs = n, z.Labels[:n], z.IDs[:n]
	return z
}

// termReference returns the reference of the term at a step (nil: the batch). The second result is false if the term
// has not started or its bank is empty.
func (t Term) termReference(bank *features.Bank, step int) (*features.Set, bool) {
	if step < t.Start {
		return nil, false
	}
	if !t.Bank {
		return nil, true
	}
	if bank == nil || bank.Len() == 0 {
		return nil, false
	}
	return new(bank.Set()), true
}

// termPairs returns the divisor that turns the term into a mean over pairs. A row of the batch is no pair with itself.
func (t Term) termPairs(rows int, ref *features.Set) float64 {
	others := rows - 1
	if ref != nil {
		others = ref.Len()
	}
	return losses.Pairs(t.Loss, rows, others)
}

func addScaledRow(a float64, x, y []float32) {
	blas32.Axpy(float32(a), blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}

func scaleVector(a float64, x []float32) {
	if a != 1 {
		blas32.Scal(float32(a), blas32.Vector{N: len(x), Inc: 1, Data: x})
	}
}

// allZero reports whether all numbers are zero. It stops at the first non-zero number, usually after a few.
func allZero(x []float32) bool {
	return !slices.ContainsFunc(x, func(v float32) bool { return v != 0 })
}

// sumSquares returns Σ x². It sums short pieces in float32 and the pieces in float64, in a fixed order. The result is
// not finite if any x is not. The order of summation in gonum's dot product depends on whether x is aligned to 16
// bytes. Go aligns all but the shortest slices, for which sumSquares uses a loop.
func sumSquares(x []float32) float64 {
	var sum float64
	if len(x) < 16 {
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		return sum
	}
	for len(x) > 0 {
		n := min(len(x), 1024)
		v := blas32.Vector{N: n, Inc: 1, Data: x[:n]}
		sum += float64(blas32.Dot(v, v))
		x = x[n:]
	}
	return sum
}

func isFiniteLoss(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
