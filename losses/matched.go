package losses

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// matched is a loss of chosen pairs or triplets with 003's term beside it, which keeps the choice from bending what
// the embedding sees of a class.
//
//	L + λ Σ_y ‖Φ_y^S - Φ_y‖²,   Φ_y^S = Σ_{i∈y} n_i z_i / Σ_{i∈y} n_i,   Φ_y the mean of the class in the batch
//
// n_i is how often row i occurs among the terms of L that cost something, see [selected]: in triplets as a, p or n,
// in pairs as either. The choice and n_i are constants in the gradient. Classes from which nothing is chosen add
// nothing; where all members of a class occur equally often the term is 0. Every row has a label; there is no
// bank. Time O(n²) for the counts and O(n·d) for the term beside those of L.
// Differs from the paper: it has the term beside semi-hard triplets alone ([adaptedTriplet]) and leaves others to
// later work. Source: 003, Eq. 12-15; METHODS 9.1.
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

// withMatch puts the term beside a loss whose chain is c, and which counts what it chooses by s; not where λ is 0.
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

// matchAmong adds the term by the counts of the last choice: the value is returned, the gradient added to grad
// unless that is empty.
func matchAmong[T float32 | float64](l *matched, z, grad rowsOf[T], labels []int) float64 {
	l.rows = l.rows[:0]
	for i := range labels {
		l.rows = append(l.rows, i)
	}
	l.matching.group(l.rows, labels, l.selected.count, z.cols)
	return matchClasses(&l.matching, z, grad, l.lambda)
}

// selected counts how often every row occurs among what a function of similarities chooses: n_i. What it chooses
// is seen in ∂sum/∂S, which is below 0 at a positive and above 0 at a negative that costs something.
//
//	times(i, j) = |∂sum/∂s_ij| / |dδ/ds|   terms of δ_ij with slope ±1, each as often as it stands in the sum; a
//	                                       soft term (smooth) as much as it still pulls
//	times(i, j) = 1[∂sum/∂s_ij ≠ 0]        where the loss has no distance
//
// Triplets count their anchor with the positive; pairs count both their rows. Rows lie in one batch.
type selected struct {
	simLoss
	by    distance // δ
	pairs bool     // the terms are pairs, and not triplets

	count   []float64 // n_i
	scratch []float64
}

func (l *selected) eval(dS, S []float64, p *pairs) (sum, terms float64) {
	r := len(p.cols)
	if p.first == 0 {
		l.count = grow(l.count, r)
		clear(l.count)
	}
	if dS == nil {
		l.scratch = grow(l.scratch, len(S))
		dS = l.scratch
	}
	sum, terms = l.simLoss.eval(dS, S, p)
	for i := range p.rows {
		for j, w := range dS[i*r : (i+1)*r] {
			if w == 0 {
				continue
			}
			times := l.times(w, S[i*r+j])
			l.count[j] += times
			if w < 0 || l.pairs { // of triplets a positive: one of anchor i each
				l.count[p.first+i] += times
			}
		}
	}
	return sum, terms
}

// times returns how often a pair with derivative w at similarity s stands in the sum.
func (l *selected) times(w, s float64) float64 {
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
