package eval

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// order ranks the gallery's rows for one query: by exact cosine, ties by lower index. The float32 similarities s decide
// wherever they differ by more than their rounding. Equal rows need not have equal ones, as the order in which a product
// is summed depends on where in the matrix the row lies; an image that is there twice would else have its copies ranked
// by chance. The exact value of a row is computed once per query, and only if it is asked for.
type order struct {
	s, query []float32
	gallery  blas32.General
	slack    float32 // what two similarities of unit rows can be off together

	exact []float64
	of    []int32 // whose values those are: number of the query, from 1
	turn  int32

	list []Neighbour // candidates of nearest, and their similarities
	sims []float32
}

// next turns to another query.
func (o *order) next(s, query []float32, gallery blas32.General) {
	if len(o.of) != gallery.Rows || o.turn == math.MaxInt32 {
		o.exact, o.of, o.turn = make([]float64, gallery.Rows), make([]int32, gallery.Rows), 0
	}
	o.s, o.query, o.gallery = s, query, gallery
	o.slack = 2.02 * float32(gallery.Cols+4) * 0x1p-24
	o.turn++
}

// compare returns a number below 0 if row a stands before row b.
func (o *order) compare(a, b int) int {
	d := o.s[a] - o.s[b]
	if d > o.slack {
		return -1
	}
	if d < -o.slack {
		return 1
	}
	return o.closer(a, b)
}

// closer is compare where the similarities leave it open.
func (o *order) closer(a, b int) int {
	return cmp.Or(cmp.Compare(o.value(b), o.value(a)), cmp.Compare(a, b))
}

func (o *order) value(j int) float64 {
	if o.of[j] == o.turn {
		return o.exact[j]
	}
	o.of[j], o.exact[j] = o.turn, features.Dot(o.query, features.Row(o.gallery, j))
	return o.exact[j]
}
