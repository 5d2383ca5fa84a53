package losses

import (
	"cmp"
	"slices"
)

// quadruplet wants positives nearer than the negatives of their anchor, by m₁, and nearer than any two images
// of two other classes, by m₂.
//
//	L = mean_{(a,p,n)} [g_ap - g_an + m₁]₊ + mean_{(a,p,n₁,n₂)} [g_ap - g_{n₁n₂} + m₂]₊
//
// g = ‖z_i - z_j‖², or ‖z_i - z_j‖ unless squared; p ∈ P(a), n ∈ N(a), y_{n₁} ≠ y_a, y_{n₂} ∉ {y_a, y_{n₁}}.
// Every triplet and every quadruplet counts. Settings: m₁, m₂ ∈ [0, 4]. Without a triplet the first mean is 0;
// with fewer than three classes the second is 0. The derivative of the distance at 0 is 0.
//
// Time O(n²·d) for the products and at most one step for each triplet and each pair of a positive and a negative pair;
// negative pairs are sorted, so that those too far for a positive pair are not visited. Memory O(n²).
// Differs from the print: g is the distance of the embedding, not a learnt metric on top of it; all triplets
// and quadruplets are used instead of mined ones; the only normalisation of the terms is the two means.
// Source: Chen et al., "Beyond triplet loss: a deep quadruplet network for person re-identification", CVPR
// 2017, section 3; m₁ = 1, m₂ = 0.5 with squares (METHODS 4.5, from memory); future work of 000.
type quadruplet struct {
	distance distance
	m1, m2   float64

	g, slope     []float64   // of all pairs of rows, and their derivatives
	alike, apart []couple    // positive and negative pairs, each once; the negative ones sorted by distance
	size         map[int]int // rows of every class
}

// couple is a pair of rows i < j.
type couple struct {
	i, j int32
	g    float64
}

var quadrupletEntry = Entry{
	Name:     "quadruplet",
	Title:    "Quadruplet loss",
	Paper:    "Chen et al. 2017; Le & Odobez (000)",
	Equation: "section 3 of Chen et al.; future work of 000",
	Formula:  "mean_{(a,p,n)} [g_ap - g_an + m₁]₊ + mean_{(a,p,n₁,n₂)} [g_ap - g_{n₁n₂} + m₂]₊",
	Against:  Batch,
	Settings: []Setting{
		{Name: "squared", Default: true, Doc: "g is the squared distance (false: the distance)"},
		{Name: "margin1", Symbol: "m₁", Default: 1.0, Min: 0, Max: 4,
			Doc: "to the negatives of the anchor (0.2 where g is not squared)"},
		{Name: "margin2", Symbol: "m₂", Default: 0.5, Min: 0, Max: 4,
			Doc: "to pairs of two other classes (0.2 where g is not squared)"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &quadruplet{distance: l2, m1: v.Number("margin1"), m2: v.Number("margin2"), size: map[int]int{}}
		if v.Flag("squared") {
			fn.distance = l2sq
		}
		return &similarity{chain{fn: fn, whole: true, exact: true}}, nil
	},
}

func (l *quadruplet) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	clear(dS)
	triplets, quadruplets := l.listCouples(S, p)
	if triplets == 0 {
		return 0, 0
	}
	sum = l.meanTriplets(dS, p, 1/triplets)
	if quadruplets > 0 {
		sum += l.meanQuadruplets(dS, p, 1/quadruplets)
	}
	return sum, 1
}

// listCouples lists the pairs, and returns the numbers of triplets and of quadruplets of unordered pairs.
func (l *quadruplet) listCouples(S []float64, p *pairs) (triplets, quadruplets float64) {
	n := len(p.rows)
	l.g, l.slope = growSlice(l.g, n*n), growSlice(l.slope, n*n)
	l.distance.fillDistances(l.g, l.slope, S)
	l.alike, l.apart = l.alike[:0], l.apart[:0]
	clear(l.size)
	for i, y := range p.rows {
		l.size[y]++
		for j := i + 1; j < n; j++ {
			c := couple{int32(i), int32(j), l.g[i*n+j]}
			switch {
			case p.rows[j] != y:
				l.apart = append(l.apart, c)
			case p.areApart(i, j):
				l.alike = append(l.alike, c)
			}
		}
	}
	slices.SortFunc(l.apart, func(a, b couple) int { return cmp.Compare(a.g, b.g) })
	for _, c := range l.alike {
		size := l.size[p.rows[c.i]]
		triplets += 2 * float64(n-size)
		quadruplets += float64(len(l.apart) - size*(n-size))
	}
	return triplets, quadruplets
}

// meanTriplets returns the first mean; share is 1/triplets.
func (l *quadruplet) meanTriplets(dS []float64, p *pairs, share float64) (sum float64) {
	n := len(p.rows)
	for _, c := range l.alike {
		for _, side := range [][2]int{{int(c.i), int(c.j)}, {int(c.j), int(c.i)}} {
			row, at, near := side[0]*n, side[0]*n+side[1], 0.0
			x, y := l.g[at]+l.m1, p.rows[side[0]]
			for k, other := range p.rows {
				if g := l.g[row+k]; other != y && g < x {
					sum += x - g
					near++
					if dS != nil {
						dS[row+k] -= share * l.slope[row+k]
					}
				}
			}
			if dS != nil {
				dS[at] += share * l.slope[at] * near
			}
		}
	}
	return sum * share
}

// meanQuadruplets returns the second mean; share is 1/quadruplets.
func (l *quadruplet) meanQuadruplets(dS []float64, p *pairs, share float64) (sum float64) {
	n := len(p.rows)
	for _, c := range l.alike {
		x, y, near := c.g+l.m2, p.rows[c.i], 0.0
		for _, q := range l.apart {
			if q.g >= x {
				break
			}
			if p.rows[q.i] == y || p.rows[q.j] == y {
				continue
			}
			sum += x - q.g
			near++
			if dS != nil {
				at := int(q.i)*n + int(q.j)
				dS[at] -= share * l.slope[at]
			}
		}
		if dS != nil {
			at := int(c.i)*n + int(c.j)
			dS[at] += share * l.slope[at] * near
		}
	}
	return sum * share
}
