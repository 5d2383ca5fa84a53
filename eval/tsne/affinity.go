package tsne

import (
	"cmp"
	"math"
	"slices"

	"winnow/eval"
)

// affinity is the symmetric sparse matrix P. The entries of row i have the indices from[i] to from[i+1]-1.
type affinity struct {
	from []int
	all  []entry
}

// entry is one entry of a sparse row.
type entry struct {
	col int32
	p   float64
}

// newAffinity computes P from every row's nearest neighbours. Besides these it needs 32 bytes for each neighbour of
// each row, or 0.6 GB for 200,000 rows with 90 neighbours.
func newAffinity(near [][]eval.Neighbour, perplexity float64) affinity {
	n := len(near)
	a := affinity{from: make([]int, n+1)}
	for i, list := range near {
		a.from[i+1] += len(list)
		for _, v := range list {
			a.from[v.Row+1]++
		}
	}
	for i := range n {
		a.from[i+1] += a.from[i]
	}
	a.all = make([]entry, a.from[n])
	eachIndex(n, func(i int) { // a row's own neighbours first
		d := make([]float64, len(near[i]))
		for j, v := range near[i] {
			d[j] = max(0, 2-2*float64(v.Similarity)) // rounding may give equal rows a negative distance
		}
		for j, p := range conditionalRow(d, perplexity) {
			a.all[a.from[i]+j] = entry{int32(near[i][j].Row), p / float64(2*n)}
		}
	})
	next := make([]int, n) // then the rows that have it as a neighbour
	for i, list := range near {
		next[i] = a.from[i] + len(list)
	}
	for i, list := range near {
		for j, v := range list {
			a.all[next[v.Row]] = entry{int32(i), a.all[a.from[i]+j].p}
			next[v.Row]++
		}
	}
	eachIndex(n, func(i int) { next[i] = len(mergeEntries(a.all[a.from[i]:a.from[i+1]])) })
	end := 0
	for i := range n {
		kept := a.all[a.from[i] : a.from[i]+next[i]]
		a.from[i] = end
		end += copy(a.all[end:], kept)
	}
	a.from[n], a.all = end, a.all[:end]
	return a
}

// mergeEntries sorts a row in place and adds up entries of the same column, which two points have if each is a
// neighbour of the other.
func mergeEntries(row []entry) []entry {
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

// conditionalRow returns p_·|i for squared distances d. It finds β by bisection so that the entropy is log(perplexity).
// If so many points tie that no β fits, they share the probability. It overwrites d.
func conditionalRow(d []float64, perplexity float64) []float64 {
	nearest := slices.Min(d)
	for j := range d {
		d[j] -= nearest // cancels in p and scales the largest term to 1
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
