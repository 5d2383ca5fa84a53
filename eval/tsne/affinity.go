package tsne

import (
	"cmp"
	"math"
	"slices"

	"winnow/eval"
)

// affinity is the symmetric matrix P without its zeros: the entries of row i are from[i] up to from[i+1].
type affinity struct {
	from []int
	col  []int32
	p    []float64
}

// affinities computes P from every row's nearest neighbours.
func affinities(near [][]eval.Neighbour, perplexity float64) affinity {
	n := len(near)
	given := make([][]float64, n)
	each(n, func(i int) {
		d := make([]float64, len(near[i]))
		for j, v := range near[i] {
			d[j] = max(0, 2-2*float64(v.Similarity)) // rounding may give equal rows a negative distance
		}
		given[i] = conditional(d, perplexity)
	})
	rows := make([][]entry, n)
	for i, list := range near {
		for j, v := range list {
			p := given[i][j] / float64(2*n)
			rows[i] = append(rows[i], entry{int32(v.Row), p})
			rows[v.Row] = append(rows[v.Row], entry{int32(i), p})
		}
	}
	each(n, func(i int) { rows[i] = merged(rows[i]) })
	a := affinity{from: make([]int, n+1)}
	for i, row := range rows {
		for _, e := range row {
			a.col, a.p = append(a.col, e.col), append(a.p, e.p)
		}
		a.from[i+1] = len(a.col)
	}
	return a
}

// entry is a number of a sparse row.
type entry struct {
	col int32
	p   float64
}

// merged sorts a row and adds up entries of the same column, which come from points that are each other's
// neighbours.
func merged(row []entry) []entry {
	slices.SortStableFunc(row, func(a, b entry) int { return cmp.Compare(a.col, b.col) })
	out := row[:0]
	for _, e := range row {
		if k := len(out) - 1; k >= 0 && out[k].col == e.col {
			out[k].p += e.p
			continue
		}
		out = append(out, e)
	}
	return out
}

// conditional returns p_·|i for squared distances d. It finds β by bisection so that the entropy is
// log(perplexity). If too many points are equally near for any β, these share the probability. It overwrites d.
func conditional(d []float64, perplexity float64) []float64 {
	nearest := slices.Min(d)
	for j := range d {
		d[j] -= nearest // cancels in p, and makes the largest term 1
	}
	p, want := make([]float64, len(d)), math.Log(perplexity)
	beta, low, high := 1.0, 0.0, math.Inf(1)
	for range 100 {
		sum, mean := 0.0, 0.0
		for j, v := range d {
			p[j] = math.Exp(-beta * v)
			sum += p[j]
			mean += p[j] * v
		}
		for j := range p {
			p[j] /= sum
		}
		entropy := math.Log(sum) + beta*mean/sum
		if math.Abs(entropy-want) < 1e-6 {
			break
		}
		if entropy > want {
			low = beta
		} else {
			high = beta
		}
		if beta = (low + high) / 2; math.IsInf(high, 1) {
			beta = 2 * low
		}
	}
	return p
}
