package losses

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"winnow/features"
)

// Mining looks at a batch as the losses of triplets do, for those who study what a selection takes: the distances
// d = ‖z_i - z_j‖, who is a positive of whom, and the choices of [selection], by the same code.
type Mining struct {
	chain
	labels []int
	matrix []float64 // d, n×n
	whole  pairs
}

// Select1to1 are the selections that take one negative with every positive pair: what 000 calls 1-1 sampling.
var Select1to1 = []string{"semihard", "random_semihard", "fixed_semihard"}

// NewMining takes a batch over. z has unit rows of finite numbers, each with a label; labels and IDs are kept, not copied.
func NewMining(z features.Set) *Mining {
	p, other := sides(z, nil, false)
	m := &Mining{chain: chain{exact: true, whole: true}, labels: z.Labels}
	if m.fn = m; z.Len() > 0 {
		m.run(z.X, other, p, false)
	}
	return m
}

// eval implements simLoss: it keeps what a loss would turn into a number.
func (m *Mining) eval(_, S []float64, p *pairs) (sum, terms float64) {
	m.matrix, m.whole = make([]float64, len(S)), *p
	l2.of(m.matrix, nil, S)
	return 0, 0
}

// Len returns the number of rows.
func (m *Mining) Len() int { return len(m.labels) }

// Distance returns d of rows i and j.
func (m *Mining) Distance(i, j int) float64 { return m.matrix[i*m.Len()+j] }

// Positive reports whether j ∈ P(i): of one label, and not the same image.
func (m *Mining) Positive(i, j int) bool { return m.whole.positive(i, j) }

// Negative reports whether j ∈ N(i).
func (m *Mining) Negative(i, j int) bool { return m.labels[i] != m.labels[j] }

// Triplets lists every ordered positive pair (a, p) with the negative n that the selection, one of [Select1to1],
// takes with it, as {a, p, n}; n is -1 where its window holds none. gap is g of the window, draw the source of what
// is drawn (nil for fixed_semihard).
func (m *Mining) Triplets(choose string, gap float64, draw *rand.Rand) iter.Seq[[3]int] {
	if !slices.Contains(Select1to1, choose) {
		panic(fmt.Sprintf("losses: mining: selection is %q, expected one of %v", choose, Select1to1))
	}
	return func(yield func([3]int) bool) {
		l := &triplet{distance: l2, choose: selection{asTake(choose), gap}}
		p := m.whole
		p.draw = draw
		n := m.Len()
		for a := range m.labels {
			l.delta = m.matrix[a*n : (a+1)*n]
			mates, negatives := l.singles(a, &p)
			for k, j := range mates {
				if !yield([3]int{a, int(j), int(negatives[k])}) {
					return
				}
			}
		}
	}
}
