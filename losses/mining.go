package losses

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

// Mining shows a batch as the losses of triplets see it, for studies of what a selection takes: the distances
// d = ‖z_i - z_j‖, the positives of every row, and the choices of [selection], computed by the same code.
type Mining struct {
	chain
	labels []int
	matrix []float64 // d, n×n
	whole  pairs
}

// select1to1 lists the selections that take one negative with every positive pair; 000 calls this 1-1 sampling.
var select1to1 = []string{"semihard", "random_semihard", "fixed_semihard"}

// NewMining prepares a batch. z has unit rows of finite numbers, each with a label; labels and IDs are kept,
// not copied.
func NewMining(z features.Set) *Mining {
	p, other := batchPairs(z, nil, false)
	m := &Mining{chain: chain{exact: true, whole: true}, labels: z.Labels}
	if m.fn = m; z.Len() > 0 {
		m.runChain(z.X, other, p, false)
	}
	return m
}

// evalPairs implements simLoss: it stores what a loss would turn into a number.
func (m *Mining) evalPairs(_, S []float64, p *pairs) (sum, terms float64) {
	m.matrix, m.whole = make([]float64, len(S)), *p
	l2.fillDistances(m.matrix, nil, S)
	return 0, 0
}

// Len returns the number of rows.
func (m *Mining) Len() int { return len(m.labels) }

// Distance returns d of rows i and j.
func (m *Mining) Distance(i, j int) float64 { return m.matrix[i*m.Len()+j] }

// Positive reports whether j ∈ P(i): the same label and a different image.
func (m *Mining) Positive(i, j int) bool { return m.whole.isPositive(i, j) }

// Negative reports whether j ∈ N(i).
func (m *Mining) Negative(i, j int) bool { return m.labels[i] != m.labels[j] }

// Triplets yields every ordered positive pair (a, p) with the negative n that the selection, one of
// [select1to1], takes for it, as {a, p, n}; n is -1 if its window is empty. gap is g of the window; draw is the
// random source (nil for fixed_semihard).
func (m *Mining) Triplets(choose string, gap float64, draw *rand.Rand) iter.Seq[[3]int] {
	if !slices.Contains(select1to1, choose) {
		panic(fmt.Sprintf("losses: mining: selection is %q, expected one of %v", choose, select1to1))
	}
	return func(yield func([3]int) bool) {
		l := &triplet{distance: l2, choose: selection{asTake(choose), gap}}
		p := m.whole
		p.draw = draw
		n := m.Len()
		for a := range m.labels {
			l.delta = m.matrix[a*n : (a+1)*n]
			mates, negatives := l.listSingles(a, &p)
			for k, j := range mates {
				if !yield([3]int{a, int(j), int(negatives[k])}) {
					return
				}
			}
		}
	}
}
