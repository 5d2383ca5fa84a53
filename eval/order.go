package eval

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// order ranks the gallery's rows for one query by exact cosine, ties by lower index. The float32 similarities s decide
// if they differ by more than their rounding error. Equal rows may have different float32 similarities, because the
// order of summation in a product depends on the position of the row. Without the exact values, duplicates would be
// ranked at random. The exact value of a row is computed on demand, at most once per query.
type order struct {
	s, query []float32
	gallery  blas32.General
	slack    float32 // combined error of two similarities of unit rows

	exact []float64
	of    []int32 // number of the query for which exact was computed, from 1
	turn  int32

	list []Neighbour // candidates in nearestRows, and their similarities
	sims []float32
}

// setQuery sets the query.
func (o *order) setQuery(s, query []float32, gallery blas32.General) {
	if len(o.of) != gallery.Rows || o.turn == math.MaxInt32 {
		o.exact, o.of, o.turn = make([]float64, gallery.Rows), make([]int32, gallery.Rows), 0
	}
	o.s, o.query, o.gallery = s, query, gallery
	o.slack = 2.02 * float32(gallery.Cols+4) * 0x1p-24
	o.turn++
}

// compareRanked returns a negative number if row a ranks before row b.
func (o *order) compareRanked(a, b int) int {
	d := o.s[a] - o.s[b]
	if d > o.slack {
		return -1
	}
	if d < -o.slack {
		return 1
	}
	return o.compareExactly(a, b)
}

// compareExactly compares rows whose float32 similarities are too close.
func (o *order) compareExactly(a, b int) int {
	return cmp.Or(cmp.Compare(o.exactSimilarity(b), o.exactSimilarity(a)), cmp.Compare(a, b))
}

func (o *order) exactSimilarity(j int) float64 {
	if o.of[j] == o.turn {
		return o.exact[j]
	}
	o.of[j], o.exact[j] = o.turn, features.Dot(o.query, features.Row(o.gallery, j))
	return o.exact[j]
}
