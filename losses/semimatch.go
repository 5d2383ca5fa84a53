package losses

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// matching computes the terms of [adaptedTriplet] that compare the means of selected rows with target means. Class
// means are weighted by how often each row was selected.
//
//	L_match = Σ_y ‖Φ_y^S - Φ_y‖²            L_semi = ‖r‖², r = Σ_y θ_y Φ_y^S - u
//	θ_{1…} = (AᵀA + ridge)⁻¹ Aᵀ (u - Φ_0)   θ_0 = 1 - Σ θ   A = [Φ_1 - Φ_0, Φ_2 - Φ_0, …]
//
// The sums are over the classes 0, 1, … with selected rows, in the order of their labels. θ estimates the classes'
// shares among the unlabelled rows from the mean u. If printed is set, u replaces u - Φ_0, as printed in Eq. 19; this
// is not the minimiser. θ may be negative. With one class θ = 1.
// If AᵀA is singular (equal means, or as many classes as dimensions), 1e-6 of its mean diagonal is added. With Y - 1 ≥
// D classes in D dimensions every u can be matched: r is 0 and the term has no effect. θ is a constant in the
// gradient, which is exact for the unconstrained minimiser:
//
//	∂L_semi/∂Φ_y = 2 θ_y r,   ∂L_semi/∂u = -2 r
//
// All computations are float64. Source: 003, Eq. 12-15 and 18-20, with Eq. 19 corrected; METHODS 9.1, 9.2, 003-1,
// 003-7.
type matching struct {
	printed bool
	ridge   float64

	order  []int // rows of the batch, class by class
	weight []float64
	chosen []chosenClass
	shift  []float64 // a vector of length d
	phi    []float64 // Φ^S of every class, Y×d
	u      []float64
	theta  []float64
	a      []float64 // (Y-1)×d
	normal []float64 // AᵀA, then its Cholesky factor
}

// chosenClass is a class with selected rows. Its rows are order[from:to].
type chosenClass struct{ from, to int }

// rowsOf is a matrix of either precision. Without data it represents no matrix.
type rowsOf[T float32 | float64] struct {
	data         []T
	stride, cols int
}

func (m rowsOf[T]) rowAt(i int) []T { return m.data[i*m.stride : i*m.stride+m.cols] }

// groupRows sorts the labelled rows by class and computes their weights: weight[k] is n_i/Σn of row order[k]. count
// holds n_i for each entry of rows.
func (m *matching) groupRows(rows, labels []int, count []float64, d int) {
	n := len(rows)
	m.order, m.weight, m.chosen = growSlice(m.order, n), growSlice(m.weight, n), m.chosen[:0]
	m.shift = growSlice(m.shift, d)
	for k := range m.order {
		m.order[k] = k
	}
	slices.SortFunc(m.order, func(a, b int) int { return cmp.Or(cmp.Compare(labels[rows[a]], labels[rows[b]]), a-b) })
	for from, to := 0, 0; from < n; from = to {
		total := 0.0
		for to = from; to < n && labels[rows[m.order[to]]] == labels[rows[m.order[from]]]; to++ {
			m.weight[to] = count[m.order[to]]
			total += m.weight[to]
		}
		if total > 0 {
			m.chosen = append(m.chosen, chosenClass{from, to})
			for k := from; k < to; k++ {
				m.weight[k] /= total
			}
		}
	}
	for k, at := range m.order {
		m.order[k] = rows[at]
	}
}

// matchClasses returns weight·L_match and adds its gradient to grad.
func matchClasses[T float32 | float64](m *matching, z, grad rowsOf[T], weight float64) (sum float64) {
	for _, c := range m.chosen {
		clear(m.shift)
		even := 1 / float64(c.to-c.from)
		for k := c.from; k < c.to; k++ {
			addScaled(m.shift, m.weight[k]-even, z.rowAt(m.order[k]))
		}
		sum += floats.Dot(m.shift, m.shift)
		for k := c.from; k < c.to && grad.data != nil; k++ {
			addScaled(grad.rowAt(m.order[k]), 2*weight*(m.weight[k]-even), m.shift)
		}
	}
	return weight * sum
}

// matchUnlabelled returns weight·L_semi for the mean of the rows others, and adds its gradient to grad.
func matchUnlabelled[T float32 | float64](m *matching, z, grad rowsOf[T], others []int, weight float64) float64 {
	if len(others) == 0 || len(m.chosen) == 0 {
		return 0
	}
	d := z.cols
	m.phi, m.u = growSlice(m.phi, len(m.chosen)*d), growSlice(m.u, d)
	clear(m.phi)
	clear(m.u)
	for y, c := range m.chosen {
		for k := c.from; k < c.to; k++ {
			addScaled(m.phi[y*d:(y+1)*d], m.weight[k], z.rowAt(m.order[k]))
		}
	}
	even := 1 / float64(len(others))
	for _, i := range others {
		addScaled(m.u, even, z.rowAt(i))
	}
	m.solveTheta(d)
	r := m.shift
	for k, v := range m.u {
		r[k] = -v
	}
	for y, theta := range m.theta {
		addScaled(r, theta, m.phi[y*d:(y+1)*d])
	}
	if grad.data != nil {
		for y, c := range m.chosen {
			for k := c.from; k < c.to; k++ {
				addScaled(grad.rowAt(m.order[k]), 2*weight*m.theta[y]*m.weight[k], r)
			}
		}
		for _, i := range others {
			addScaled(grad.rowAt(i), -2*weight*even, r)
		}
	}
	return weight * floats.Dot(r, r)
}

// solveTheta solves the equations for theta.
func (m *matching) solveTheta(d int) {
	n := len(m.chosen) - 1
	m.theta = growSlice(m.theta, n+1)
	m.a, m.normal = growSlice(m.a, n*d), growSlice(m.normal, n*n)
	first, b := m.phi[:d], m.theta[1:]
	for y := range n {
		row := m.a[y*d : (y+1)*d]
		copy(row, m.phi[(y+1)*d:])
		addScaled(row, -1, first)
		b[y] = floats.Dot(row, m.u)
		if !m.printed {
			b[y] -= floats.Dot(row, first)
		}
	}
	m.fillSquares(d, n, m.ridge)
	if !factorCholesky(m.normal, n) {
		mean := 0.0
		for y := range n {
			row := m.a[y*d : (y+1)*d]
			mean += floats.Dot(row, row) / float64(n)
		}
		// A mean of 0 means that all class means are equal; every θ is then equally good.
		m.fillSquares(d, n, m.ridge+max(1e-6*mean, 1e-300))
		factorCholesky(m.normal, n)
	}
	substituteBack(m.normal, b)
	m.theta[0] = 1
	for _, v := range b {
		m.theta[0] -= v
	}
}

// fillSquares fills the lower half of normal with AᵀA + ridge.
func (m *matching) fillSquares(d, n int, ridge float64) {
	for y := range n {
		for x := range y + 1 {
			m.normal[y*n+x] = floats.Dot(m.a[y*d:(y+1)*d], m.a[x*d:(x+1)*d])
		}
		m.normal[y*n+y] += ridge
	}
}

// factorCholesky replaces the lower half of the n×n matrix g by its Cholesky factor. It returns false if g is too
// close to singular.
func factorCholesky(g []float64, n int) bool {
	for i := range n {
		whole := g[i*n+i]
		for j := range i + 1 {
			rest := g[i*n+j] - floats.Dot(g[i*n:i*n+j], g[j*n:j*n+j])
			if j < i {
				g[i*n+j] = rest / g[j*n+j]
				continue
			}
			if !(rest > 1e-13*whole) {
				return false
			}
			g[i*n+i] = math.Sqrt(rest)
		}
	}
	return true
}

// substituteBack solves L·Lᵀ·x = b in place.
func substituteBack(l, b []float64) {
	n := len(b)
	for i := range n {
		b[i] = (b[i] - floats.Dot(l[i*n:i*n+i], b[:i])) / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		b[i] /= l[i*n+i]
		for j := range i {
			b[j] -= b[i] * l[i*n+j]
		}
	}
}

// addScaled adds a·x to dst.
func addScaled[A, B float32 | float64](dst []A, a float64, x []B) {
	x = x[:len(dst)]
	for k, v := range x {
		dst[k] += A(a * float64(v))
	}
}
