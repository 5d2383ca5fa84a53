package losses

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// snr is a contrastive loss of noise-to-signal ratios: the variance of the difference of two vectors divided by the
// variance of the anchor.
//
//	v_ij = var(z_i - z_j) / var(z_i) = (q_i + q_j - 2 c_i·c_j) / q_i,   c = z - mean(z), q = c·c
//	L    = mean₊ over i, j ∈ P(i) of [v_ij - m₊]₊ + mean₊ over i, j ∈ N(i) of [m₋ - v_ij]₊ + λ/n Σ_i |Σ_k z_ik|
//
// var is over the d coordinates of a vector (its normaliser cancels). mean₊ is the mean over the terms above 0 of each
// group, or 0 if there are none. v is not symmetric: the divisor is the anchor's variance. ∂v_ij/∂z_i = 2/q_i [(1 -
// v_ij) c_i - c_j], ∂v_ij/∂z_j = 2/q_i (c_j - c_i): with W = ∂L/∂v the whole gradient is one product of an n×r matrix
// with c, as for similarities. Against a bank z_j is a constant.
// Settings: pos_margin m₊ and neg_margin m₋ ≥ 0, reg λ ≥ 0. A constant anchor (q_i ≤ 1e-12 ‖z_i‖²) has no ratio and is
// skipped. Without any pair the result is 0, including the last term. Rows are used as given; winnow's have unit
// length, as in pytorch-metric-learning. Yuan et al. do not normalise; vectors of varying length cannot be trained
// here. v depends on the coordinates: a rotation preserves v only if it preserves the direction (1, …, 1). 002 gives
// the margins of a similarity, 1 and 0 (002-8). For a distance these have no effect, so the defaults here are 0 and 1.
// Products are float32; vectors closer than 1e-3 of their variances are compared by differences.
// Time O(n·r·d), memory O(n·r).
// Source: Yuan et al., "Signal-to-noise ratio: a robust distance metric for deep metric learning", CVPR 2019, as a
// baseline of 002. METHODS 3.7.
type snr struct {
	posMargin, negMargin, reg float64
	views                     bool // see [Env]

	c, s        blas32.General // n×d centred rows; n×r products, then v, then weights
	rows, cols  spreads        // of the batch, and of a bank
	ones        []float32
	pull, shift []float64 // coefficient of c_i in row i; correction of row i for the centring of the bank
}

var snrEntry = Entry{
	Name:     "snr_contrastive",
	Title:    "SNR contrastive loss",
	Paper:    "Yuan et al. 2019; BSPML (002)",
	Equation: "a baseline of 002, which prints no equation",
	Formula:  "mean₊_P [v - m₊]₊ + mean₊_N [m₋ - v]₊, v_ij = var(z_i - z_j)/var(z_i)",
	Against:  Both,
	Settings: []Setting{
		{Name: "pos_margin", Symbol: "m₊", Default: 0.0, Min: 0, Max: 100,
			Doc: "ratio below which a positive adds no loss"},
		{Name: "neg_margin", Symbol: "m₋", Default: 1.0, Min: 0, Max: 100,
			Doc: "ratio above which a negative adds no loss"},
		{Name: "reg", Symbol: "λ", Default: 0.0, Min: 0, Max: 100,
			Doc: "weight of a term that pulls the coordinate sum of every vector to 0 (usual if not 0: 0.005)"},
	},
	New: func(v Values, env Env) (Loss, error) {
		return &snr{posMargin: v.Number("pos_margin"), negMargin: v.Number("neg_margin"), reg: v.Number("reg")}, nil
	},
}

const (
	flat    = 1e-12 // q/‖z‖² up to which a vector is considered constant
	kindred = 1e-3  // share of q_i + q_j below which a squared distance is computed from differences
)

// spreads holds the mean of the coordinates and q for every row; q is 0 for a constant row.
type spreads struct{ mean, q []float64 }

func (l *snr) showViews() { l.views = true }

// Eval implements [Loss].
func (l *snr) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	checkGrad(grad, z)
	p, other := batchPairs(z, ref, l.views)
	n, d := z.Len(), z.Dim()
	if n == 0 || other.Rows == 0 {
		return zeroGradient(grad)
	}
	l.ones = growSlice(l.ones, d)
	for k := range l.ones {
		l.ones[k] = 1
	}
	finite := l.rows.measureRows(z.X, l.ones)
	cols := &l.rows
	if ref != nil {
		cols = &l.cols
		finite = cols.measureRows(other, l.ones) && finite
	}
	if !finite {
		return notANumber(grad)
	}
	l.computeCentre(z.X)
	factor := other // valid because c_i·z_j = c_i·c_j
	if ref == nil {
		factor = l.c // the gradient must have no part along (1, …, 1)
	}
	l.s = features.Resize(l.s, n, other.Rows)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, l.c, factor, 0, l.s)
	pos, neg, any := l.addRatios(z.X, other, cols, &p)
	if !any {
		return zeroGradient(grad)
	}
	if grad != nil {
		l.backRatios(*grad, factor, cols, &p, pos.shareOfPair(1), neg.shareOfPair(-1))
	}
	return pos.groupMean() + neg.groupMean() + l.balanceTerm(grad)
}

// measureRows computes mean and q for the rows of x, and reports whether all are finite.
func (m *spreads) measureRows(x blas32.General, ones []float32) (finite bool) {
	m.mean, m.q = growSlice(m.mean, x.Rows), growSlice(m.q, x.Rows)
	finite = true
	one := blas32.Vector{N: x.Cols, Inc: 1, Data: ones}
	for i := range x.Rows {
		row := blas32.Vector{N: x.Cols, Inc: 1, Data: features.Row(x, i)}
		sum, square := blas32.DDot(row, one), blas32.DDot(row, row)
		m.mean[i] = sum / float64(x.Cols)
		m.q[i] = square - sum*m.mean[i]
		finite = finite && m.q[i]-m.q[i] == 0
		if m.q[i] <= flat*square {
			m.q[i] = 0
		}
	}
	return finite
}

// computeCentre computes l.c, the centred rows of x.
func (l *snr) computeCentre(x blas32.General) {
	l.c = features.Resize(l.c, x.Rows, x.Cols)
	for i := range x.Rows {
		c, mean := features.Row(l.c, i), float32(l.rows.mean[i])
		for k, v := range features.Row(x, i) {
			c[k] = v - mean
		}
	}
}

// group adds up the terms above 0 of the positives or of the negatives.
type group struct{ sum, active float64 }

func (g group) groupMean() float64 { return g.shareOfPair(g.sum) }

// shareOfPair returns the share of one active pair in the mean.
func (g group) shareOfPair(v float64) float64 {
	if g.active == 0 {
		return 0
	}
	return v / g.active
}

// addRatios replaces the products by v and adds up the terms. any reports whether there is a pair whose anchor is not
// constant. v is rounded to float32 before it is compared, so that backRatios uses the same value.
func (l *snr) addRatios(x, other blas32.General, cols *spreads, p *pairs) (pos, neg group, any bool) {
	for i, y := range p.rows {
		q := l.rows.q[i]
		if q == 0 {
			continue
		}
		inverse, s := 1/q, features.Row(l.s, i)
		labels, qs := p.cols[:len(s)], cols.q[:len(s)]
		for j, dot := range s {
			both := q + qs[j]
			distance := both - 2*float64(dot)
			if distance < kindred*both {
				distance = l.fromDifferences(x, other, i, j, cols.mean[j])
			}
			s[j] = float32(distance * inverse)
			v := float64(s[j])
			if labels[j] != y {
				any = true
				if v < l.negMargin {
					neg.sum += l.negMargin - v
					neg.active++
				}
			} else if p.areApart(i, j) {
				any = true
				if v > l.posMargin {
					pos.sum += v - l.posMargin
					pos.active++
				}
			}
		}
	}
	return pos, neg, any
}

// fromDifferences returns q_i·v_ij from the differences of the coordinates: exactly 0 for equal vectors.
func (l *snr) fromDifferences(x, other blas32.General, i, j int, mean float64) float64 {
	var sum float64
	b, off := features.Row(other, j), l.rows.mean[i]-mean
	for k, a := range features.Row(x, i) {
		d := float64(a) - float64(b[k]) - off
		sum += d * d
	}
	return sum
}
