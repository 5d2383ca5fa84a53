package selective

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// compareBlock limits the similarities in memory at a time: 16 MiB of float32.
const compareBlock = 1 << 22

// comparison computes contrastive losses of many rows against many candidates.
type comparison struct {
	s    []float32
	exps []float64
}

// addContrasts adds up the weighted contrastive losses of u's rows against candidates and adds the gradient to du. each
// may change the similarities of row r (-Inf removes a candidate), and returns which candidate is the row
// itself (-1: none), the candidates it should be near, and its weight. If the candidates are u's own rows, the
// gradient goes to both sides of a similarity.
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
