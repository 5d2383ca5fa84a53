package losses

import (
	"cmp"
	"slices"
)

// quadruplet pulls positives nearer, by m₁, than the negatives of their anchor, and nearer, by m₂, than any two images
// of two other classes.
//
//	L = mean_{(a,p,n)} [g_ap - g_an + m₁]₊ + mean_{(a,p,n₁,n₂)} [g_ap - g_{n₁n₂} + m₂]₊
//
// g = ‖z_i - z_j‖², or ‖z_i - z_j‖ unless squared; p ∈ P(a), n ∈ N(a), y_{n₁} ≠ y_a, y_{n₂} ∉ {y_a, y_{n₁}}.
// All triplets and quadruplets are used. Settings: m₁, m₂ ∈ [0, 4]. Without a triplet the first mean is 0; with fewer
// than three classes the second mean is 0. The derivative of the distance at 0 is 0.
//
// Triplets and quadruplets are not listed. The thresholds x = g_ap + m₁ of an anchor are sorted, and every negative is
// placed between two of them. Running counts and sums then give the negatives below every threshold and the thresholds
// above every negative. The second mean does the same for all anchors at once: all negative pairs are placed among the
// thresholds x = g_ap + m₂ of all positive pairs. For a positive pair of class c, the negative pairs with a row of c
// are subtracted; they are placed separately among the thresholds of their two classes.
// Time O(n²·d) for the products and O((n² + M) log M) for M positive pairs, memory O(n² + M).
// Differences from the paper: g is the distance of the embeddings, not a learnt metric of them; all triplets and
// quadruplets are used instead of mined ones; the terms are normalised only by the two means.
// Source: Chen et al., "Beyond triplet loss: a deep quadruplet network for person re-identification", CVPR 2017,
// section 3; m₁ = 1, m₂ = 0.5 with squares (METHODS 4.5, from memory); future work of 000.
type quadruplet struct {
	distance distance
	m1, m2   float64

	classes      []class
	order        []int32 // rows, class by class
	of           []int32 // index in classes of each row's class
	delta, slope []float64
	below        []float64  // ascending thresholds of one anchor, then of all positive pairs
	near         []negative // negatives between neighbouring thresholds in below
	ends         []int32
	couples      []couple // positive pairs, class by class, sorted by distance
	x            []float64
	touching     []negative // negatives between the steps of each class: a class with m couples has m+1
}

// class is one label of the batch.
type class struct {
	label, size int
	from        int       // index of its first row in order
	first, last int       // range of its positive pairs in couples
	gaps        int       // index of its first entry in touching
	steps       []float64 // ascending thresholds of its positive pairs
}

// negative describes the negatives between two neighbouring thresholds by their number and the sum of their distances.
type negative struct{ count, sum float64 }

// couple is a positive pair.
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
			Doc: "margin to the negatives of the anchor (usual if g is not squared: 0.2)"},
		{Name: "margin2", Symbol: "m₂", Default: 0.5, Min: 0, Max: 4,
			Doc: "margin to pairs of two other classes (usual if g is not squared: 0.2)"},
	},
	New: func(v Values, env Env) (Loss, error) {
		fn := &quadruplet{distance: l2, m1: v.Number("margin1"), m2: v.Number("margin2")}
		if v.Flag("squared") {
			fn.distance = l2sq
		}
		return &similarity{chain{fn: fn, whole: true, exact: true}}, nil
	},
}

func (l *quadruplet) evalPairs(dS, S []float64, p *pairs) (sum, terms float64) {
	n := len(p.rows)
	l.delta, l.slope = growSlice(l.delta, n), growSlice(l.slope, n)
	clear(dS)
	l.sortRows(p.rows)
	if len(l.classes) < 2 {
		return 0, 0
	}
	triplets := l.gatherPositives(S, p)
	if triplets == 0 {
		return 0, 0
	}
	sum = l.meanTriplets(dS, S, p, 1/triplets)
	if quadruplets := l.countQuadruplets(); quadruplets > 0 {
		sum += l.pairsOfOthers(dS, S, 1/quadruplets)
	}
	return sum, 1
}

// sortRows groups the rows by label.
func (l *quadruplet) sortRows(labels []int) {
	n := len(labels)
	l.order, l.of = growSlice(l.order, n), growSlice(l.of, n)
	for i := range l.order {
		l.order[i] = int32(i)
	}
	slices.SortFunc(l.order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(labels[i], labels[j]), cmp.Compare(i, j))
	})
	l.classes = l.classes[:0]
	for k, i := range l.order {
		if y := labels[i]; k == 0 || l.classes[len(l.classes)-1].label != y {
			l.classes = append(l.classes, class{label: y, from: k})
		}
		l.classes[len(l.classes)-1].size++
		l.of[i] = int32(len(l.classes) - 1)
	}
}

// gatherPositives lists the positive pairs and returns the number of triplets.
func (l *quadruplet) gatherPositives(S []float64, p *pairs) (triplets float64) {
	n := len(p.rows)
	l.couples = l.couples[:0]
	for k := range l.classes {
		c := &l.classes[k]
		c.first = len(l.couples)
		rows := l.order[c.from : c.from+c.size]
		for a, i := range rows {
			for _, j := range rows[a+1:] {
				if p.areApart(int(i), int(j)) {
					var g [1]float64
					l.distance.fillDistances(g[:], nil, S[int(i)*n+int(j):int(i)*n+int(j)+1])
					l.couples = append(l.couples, couple{i, j, g[0]})
				}
			}
		}
		c.last = len(l.couples)
		triplets += 2 * float64(c.last-c.first) * float64(n-c.size)
	}
	return triplets
}

// countQuadruplets returns the number of quadruplets: the sum over all unordered positive pairs of the number of
// unordered negative pairs without a row of the pair's class.
func (l *quadruplet) countQuadruplets() (count float64) {
	n := float64(len(l.order))
	all := n * n
	for _, c := range l.classes {
		all -= float64(c.size) * float64(c.size)
	}
	for _, c := range l.classes {
		size := float64(c.size)
		count += float64(c.last-c.first) * (all/2 - size*(n-size))
	}
	return count
}

// meanTriplets returns the first mean; share is 1/(number of triplets).
func (l *quadruplet) meanTriplets(dS, S []float64, p *pairs, share float64) (sum float64) {
	n := len(p.rows)
	for i, y := range p.rows {
		c := &l.classes[l.of[i]]
		l.distance.fillDistances(l.delta, l.slope, S[i*n:(i+1)*n])
		l.ends = l.ends[:0]
		for _, j := range l.order[c.from : c.from+c.size] {
			if p.areApart(i, int(j)) {
				l.ends = append(l.ends, j)
			}
		}
		if len(l.ends) == 0 || c.size == n {
			continue
		}
		slices.SortFunc(l.ends, func(j, k int32) int { return cmp.Compare(l.delta[j], l.delta[k]) })
		l.x = l.x[:0]
		for _, j := range l.ends {
			l.x = append(l.x, l.delta[j]+l.m1)
		}
		l.near = growSlice(l.near, len(l.x)+1)
		clear(l.near)
		d := rowOfBlock(dS, i, n)
		top := l.x[len(l.x)-1]
		for j, g := range l.delta[:n] {
			if g >= top || p.cols[j] == y {
				continue
			}
			k := upTo(l.x, g)
			l.near[k].addNegativeValue(g)
			if d != nil {
				d[j] -= share * l.slope[j] * float64(len(l.x)-k)
			}
		}
		var under negative
		for k, j := range l.ends {
			under.count += l.near[k].count
			under.sum += l.near[k].sum
			sum += under.count*l.x[k] - under.sum
			if d != nil {
				d[j] += share * l.slope[j] * under.count
			}
		}
	}
	return sum * share
}

// pairsOfOthers returns the second mean; share is 1/(number of quadruplets). Only pairs above the diagonal count.
func (l *quadruplet) pairsOfOthers(dS, S []float64, share float64) float64 {
	n := len(l.order)
	l.sortThresholds()
	top := l.below[len(l.below)-1]
	for i := range n {
		l.distance.fillDistances(l.delta, l.slope, S[i*n:(i+1)*n])
		own := &l.classes[l.of[i]]
		for j := i + 1; j < n; j++ {
			g := l.delta[j]
			if g >= top || l.of[j] == l.of[i] {
				continue
			}
			other := &l.classes[l.of[j]]
			k, mine, theirs := upTo(l.below, g), upTo(own.steps, g), upTo(other.steps, g)
			l.near[k].addNegativeValue(g)
			l.touching[own.gaps+mine].addNegativeValue(g)
			l.touching[other.gaps+theirs].addNegativeValue(g)
			if dS != nil {
				above := len(l.below) - k - (len(own.steps) - mine) - (len(other.steps) - theirs)
				dS[i*n+j] -= share * l.slope[j] * float64(above)
			}
		}
	}
	return l.dropNegatives(dS, share) * share
}

func (g *negative) addNegativeValue(v float64) {
	g.count++
	g.sum += v
}

// sortThresholds sorts the thresholds of all positive pairs and of each class, and clears the sums between them.
func (l *quadruplet) sortThresholds() {
	l.x = growSlice(l.x, len(l.couples))
	gaps := 0
	for k := range l.classes {
		c := &l.classes[k]
		slices.SortFunc(l.couples[c.first:c.last], func(a, b couple) int { return cmp.Compare(a.g, b.g) })
		for u := c.first; u < c.last; u++ {
			l.x[u] = l.couples[u].g + l.m2
		}
		c.gaps = gaps
		gaps += c.last - c.first + 1
		c.steps = l.x[c.first:c.last]
	}
	l.below = append(l.below[:0], l.x...)
	slices.Sort(l.below)
	l.near = growSlice(l.near, len(l.below)+1)
	l.touching = growSlice(l.touching, gaps)
	clear(l.near)
	clear(l.touching)
}

// dropNegatives pairs every positive pair with the negative pairs nearer than its threshold, except those with a row
// of its class, and adds their terms.
func (l *quadruplet) dropNegatives(dS []float64, share float64) (sum float64) {
	n := len(l.order)
	for k := range l.below {
		l.near[k+1].count += l.near[k].count
		l.near[k+1].sum += l.near[k].sum
	}
	for k := range l.classes {
		c := &l.classes[k]
		var touch negative
		for u := c.first; u < c.last; u++ {
			gap := l.touching[c.gaps+u-c.first]
			touch.count += gap.count
			touch.sum += gap.sum
			all := l.near[upTo(l.below, l.x[u])-1]
			count := all.count - touch.count
			if count == 0 {
				continue // also avoids the rounding error of two equal sums
			}
			sum += count*l.x[u] - (all.sum - touch.sum)
			if dS == nil {
				continue
			}
			pair := l.couples[u]
			slope := [1]float64{}
			l.distance.distanceSlope(slope[:], []float64{pair.g})
			dS[int(pair.i)*n+int(pair.j)] += share * slope[0] * count
		}
	}
	return sum
}
