package selective

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// compareBlock is the largest number of similarities in memory at a time: 16 MiB of float32.
const compareBlock = 1 << 22

// comparison computes contrastive losses of many rows against many candidates.
type comparison struct {
	s    []float32
	exps []float64
}

// addContrasts returns the sum of the weighted contrastive losses of u's rows against candidates and adds the gradient
// to du. It calls each for every row r. each may change the row's similarities (-Inf removes a candidate). It returns
// the candidate that is the row itself (-1: none), the row's positive candidates, and the row's weight. If both, the
// candidates are u's own rows, and each similarity passes its gradient to both of its rows.
func (c *comparison) addContrasts(
	du, u, candidates blas32.General, both bool, t float64,
	each func(r int, s []float32) (own int, sides []pull, weight float64),
) float64 {
	m := candidates.Rows
	if m == 0 {
		return 0
	}
	c.exps = features.Grow(c.exps, m)
	height := min(u.Rows, max(compareBlock/m, 1))
	var total float64
	for from := 0; from < u.Rows; from += height {
		some := features.Part(u, from, min(height, u.Rows-from))
		s := features.Products(&c.s, some, candidates)
		for i := range s.Rows {
			row := features.Row(s, i)
			own, sides, weight := each(from+i, row)
			total += weight * contrastRow(row, own, sides, t, weight, c.exps)
		}
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, s, candidates, 1, features.Part(du, from, some.Rows))
		if both {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, s, some, 1, du)
		}
	}
	return total
}
