package losses

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// amid returns the similarities of the columns with each other when the columns are a bank. Only a loss that
// uses the distance from a positive to a negative needs them. For a batch compared with itself they are already
// in S.
type amid interface {
	pairSimilarity(j, k int) float64
	rowSimilarities(dst []float64, js []int32) // fills a len(js)×len(cols) matrix
}

// constants are the vectors of a bank, one a row.
type constants struct {
	x         blas32.General
	picked, s blas32.General // scratch for rows
}

// pairSimilarity returns one similarity. For vectors close to each other it is computed from their differences.
func (c *constants) pairSimilarity(j, k int) float64 {
	u, v := features.Row(c.x, j), features.Row(c.x, k)
	var dot float64
	for i, x := range u {
		dot += float64(x) * float64(v[i])
	}
	if dot > nearby {
		return 1 - squaredDistance(u, v)/2
	}
	return dot
}

// rowSimilarities costs a product of len(js)·r·d. It need not check for non-finite numbers: chain.finite has already
// done so.
func (c *constants) rowSimilarities(dst []float64, js []int32) {
	c.picked, c.s = features.Resize(c.picked, len(js), c.x.Cols), features.Resize(c.s, len(js), c.x.Rows)
	for i, j := range js {
		copy(features.Row(c.picked, i), features.Row(c.x, int(j)))
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, c.picked, c.x, 0, c.s)
	for i, j := range js {
		out := dst[i*c.x.Rows : (i+1)*c.x.Rows]
		for k, v := range features.Row(c.s, i) {
			out[k] = float64(v)
			if v > nearby {
				out[k] = 1 - squaredDistance(features.Row(c.x, int(j)), features.Row(c.x, k))/2
			}
		}
	}
}
