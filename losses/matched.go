package losses

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// matched adds 003's term to a loss of selected pairs or triplets. The term keeps the selection from distorting
// the class means.
//
//	L + λ Σ_y ‖Φ_y^S - Φ_y‖²,   Φ_y^S = Σ_{i∈y} n_i z_i / Σ_{i∈y} n_i,   Φ_y the mean of the class in the batch
//
// n_i is how often row i occurs among the terms of L that are above 0, see [selected]: in triplets as a, p or
// n, in pairs as either row. The selection and n_i are constants in the gradient. Classes without a selected
// row add nothing; a class whose members all occur equally often adds 0. Every row must have a label, and there
// is no bank. Beyond L itself the time is O(n²) for the counts and O(n·d) for the term.
// Differs from the paper: the paper adds the term to semi-hard triplets only ([adaptedTriplet]) and leaves
// other selections to later work. Source: 003, Eq. 12-15; METHODS 9.1.
type matched struct {
	Loss     // whose function selected is
	selected *selected
	lambda   float64
	matching matching
	rows     []int
}

// matchSetting is λ of a loss that can be matched.
var matchSetting = Setting{Name: "match", Default: 0.0, Min: 0, Max: 1e4,
	Doc: "003's weight of the distances between the means of a class's chosen rows and of all its rows; 0: none; " +
		"against the batch only"}

// withMatch adds the term to a loss with chain c, whose selections s counts. It returns l itself if λ is 0.
func withMatch(l Loss, c *chain, s selected, lambda float64) Loss {
	if lambda == 0 {
		return l
	}
	s.simLoss = c.fn
	c.fn = &s
	m := matched{Loss: l, selected: &s, lambda: lambda}
	if _, ok := l.(Trainable); ok {
		return &matchedTrainable{m}
	}
	return &m
}

// matchedTrainable is a matched loss with parameters.
type matchedTrainable struct{ matched }

// Params implements [Trainable].
func (l *matchedTrainable) Params() []*features.Param { return l.Loss.(Trainable).Params() }

func (l *matched) showViews() {
	if v, ok := l.Loss.(viewed); ok {
		v.showViews()
	}
}

// Eval implements [Loss]. ref must be nil.
func (l *matched) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	if ref != nil {
		panic("losses: match compares a batch with itself, found another reference")
	}
	value := l.Loss.Eval(grad, z, nil)
	if z.Len() == 0 || math.IsNaN(value) {
		return value
	}
	rows, out := rowsOf[float32]{z.X.Data, z.X.Stride, z.X.Cols}, rowsOf[float32]{}
	if grad != nil {
		out = rowsOf[float32]{grad.Data, grad.Stride, grad.Cols}
	}
	return value + matchAmong(l, rows, out, z.Labels)
}

// matchAmong returns the term, computed from the counts of the last selection, and adds its gradient to grad
// unless grad is empty.
func matchAmong[T float32 | float64](l *matched, z, grad rowsOf[T], labels []int) float64 {
	l.rows = l.rows[:0]
	for i := range labels {
		l.rows = append(l.rows, i)
	}
	l.matching.groupRows(l.rows, labels, l.selected.count, z.cols)
	return matchClasses(&l.matching, z, grad, l.lambda)
}

// selected counts how often every row occurs in what a function of similarities selects: n_i. The selection
// shows in ∂sum/∂S, which is below 0 at a positive and above 0 at a negative whose term is above 0.
//
//	times(i, j) = |∂sum/∂s_ij| / |dδ/ds|   terms of δ_ij with slope ±1, each as often as it occurs in the sum; a
//	                                       soft term (smooth) in proportion to its slope
//	times(i, j) = 1[∂sum/∂s_ij ≠ 0]        if the loss has no distance
//
// Triplets count their anchor with the positive; pairs count both rows. All rows are in one batch.
type selected struct {
	simLoss
	by    distance // δ
	pairs bool     // the terms are pairs, not triplets

	count   []float64 // n_i
	scratch []float64
}

func (l *selected) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	if p.first == 0 {
		l.count = growSlice(l.count, r)
		clear(l.count)
	}
	if dS == nil {
		l.scratch = growSlice(l.scratch, len(S))
		dS = l.scratch
	}
	sum, terms = l.simLoss.evalPairs(dS, S, p)
	for i := range p.rows {
		for j, w := range dS[i*r : (i+1)*r] {
			if w == 0 {
				continue
			}
			times := l.timesInSum(w, S[i*r+j])
			l.count[j] += times
			if w < 0 || l.pairs { // in triplets a positive, of which each counts one for anchor i
				l.count[p.first+i] += times
			}
		}
	}
	return sum, terms
}

// timesInSum returns how often a pair with derivative w at similarity s occurs in the sum.
func (l *selected) timesInSum(w, s float64) float64 {
	switch l.by {
	case l2:
		return math.Abs(w) * math.Sqrt(max(0, 2-2*s))
	case l2sq:
		return math.Abs(w) / 2
	case cosine:
		return math.Abs(w)
	}
	return 1
}
