package eval

import (
	"maps"
	"math"
	"slices"
)

// expectedInformation returns E[I] if clusters of the given sizes are drawn at random (Vinh, Epps and Bailey,
// JMLR 2010, eq. 24a):
//
//	E[I] = Σ_ij Σ_m m/n · log(n·m/(a_i·b_j)) · P(m), P(m) = C(a_i, m)·C(n-a_i, b_j-m)/C(n, b_j)
//
// It visits each pair of distinct sizes once, and only the values of m whose terms are not negligible.
func (t table) expectedInformation() float64 {
	total := 0.0
	sizes := func(counts []int) (distinct []int, times map[int]float64) {
		times = map[int]float64{}
		for _, c := range counts {
			times[c]++
		}
		return slices.Sorted(maps.Keys(times)), times
	}
	rows, rowTimes := sizes(t.classes)
	columns, columnTimes := sizes(t.clusters)
	for _, a := range rows {
		for _, b := range columns {
			total += rowTimes[a] * columnTimes[b] * expectedCell(float64(a), float64(b), t.n)
		}
	}
	return total
}

// negligible is the probability below which a term does not change the sum.
const negligible = 1e-25

// expectedCell returns the terms of E[I] for a class of a rows and a cluster of b rows, summed over the number m of
// shared rows, outwards from the likeliest m.
func expectedCell(a, b, n float64) float64 {
	least, most := math.Max(0, a+b-n), math.Min(a, b)
	mode := math.Min(most, math.Max(least, math.Floor((a+1)*(b+1)/(n+2))))
	p := math.Exp(logChoose(a, mode) + logChoose(n-a, b-mode) - logChoose(n, b))
	term := func(m, p float64) float64 {
		if m == 0 {
			return 0
		}
		return m / n * math.Log(m/a*n/b) * p
	}
	sum := term(mode, p)
	for m, q := mode, p; m < most && q > negligible; {
		q *= (a - m) / (m + 1) * (b - m) / (n - a - b + m + 1)
		m++
		sum += term(m, q)
	}
	for m, q := mode, p; m > least && q > negligible; {
		q *= m / (a - m + 1) * (n - a - b + m) / (b - m + 1)
		m--
		sum += term(m, q)
	}
	return sum
}

func logChoose(n, k float64) float64 {
	whole, _ := math.Lgamma(n + 1)
	in, _ := math.Lgamma(k + 1)
	out, _ := math.Lgamma(n - k + 1)
	return whole - in - out
}
