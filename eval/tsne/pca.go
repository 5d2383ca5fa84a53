package tsne

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
	"winnow/head"
)

// Components holds the coordinates of rows along their first two principal directions.
type Components struct {
	Points   []Point
	Variance [2]float64 // variance of the rows along each direction (divided by n)
	Share    [2]float64 // share of the total variance; 0 if all rows are equal
}

// PCA projects the centred rows onto the two eigenvectors of their covariance with the largest eigenvalues. The
// covariance is computed in float32. Directions are signed so that their largest entry is positive. With one column, Y
// is 0. Time O(n·d²).
func PCA(x blas32.General) (Components, error) {
	if x.Rows < 2 || x.Cols < 1 {
		return Components{}, fmt.Errorf("tsne: principal components: %d rows of %d dimensions, expected "+
			"at least 2 rows of 1 dimension", x.Rows, x.Cols)
	}
	centred := features.NewMatrix(x.Rows, x.Cols)
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range features.Row(x, i) {
			mean[j] += float64(v) / float64(x.Rows)
		}
	}
	for i := range x.Rows {
		row := features.Row(centred, i)
		for j, v := range features.Row(x, i) {
			if v-v != 0 {
				return Components{}, fmt.Errorf("tsne: principal components: row %d has %v, expected finite numbers",
					i, v)
			}
			row[j] = float32(float64(v) - mean[j])
		}
	}
	product := features.NewMatrix(x.Cols, x.Cols)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1/float32(x.Rows), centred, centred, 0, product)
	cov := mat.NewSymDense(x.Cols, nil)
	total := 0.0
	for i := range x.Cols {
		for j := i; j < x.Cols; j++ {
			cov.SetSym(i, j, (float64(product.Data[i*product.Stride+j])+float64(product.Data[j*product.Stride+i]))/2)
		}
		total += cov.At(i, i)
	}
	c := Components{Points: make([]Point, x.Rows)}
	if total == 0 {
		return c, nil
	}
	values, vectors := head.LeadingEigen(cov, min(2, x.Cols))
	axes := [2][]float64{1: make([]float64, x.Cols)}
	for k, v := range values {
		c.Variance[k] = max(0, v)
		c.Share[k] = c.Variance[k] / total
		axes[k] = mat.Col(nil, k, vectors)
		fixSign(axes[k])
	}
	for i := range x.Rows {
		row := features.Row(centred, i)
		for j, v := range row {
			c.Points[i].X += float64(v) * axes[0][j]
			c.Points[i].Y += float64(v) * axes[1][j]
		}
	}
	return c, nil
}

// fixSign flips a direction if needed, so that its largest entry is positive.
func fixSign(axis []float64) {
	greatest := 0.0
	for _, v := range axis {
		if math.Abs(v) > math.Abs(greatest) {
			greatest = v
		}
	}
	if greatest < 0 {
		for j := range axis {
			axis[j] = -axis[j]
		}
	}
}
