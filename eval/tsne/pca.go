package tsne

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

// Components holds the coordinates of rows along their first two principal directions.
type Components struct {
	Points   []Point
	Variance [2]float64 // of the rows along each direction (divided by n)
	Share    [2]float64 // of the total variance; 0 if all rows are equal
}

// PCA projects the centred rows onto the two eigenvectors of their covariance with the largest eigenvalues. The
// covariance is a float32 product. The eigenvectors are found in float64 by iterating a block of vectors, because
// only two of d are needed. The sign of a direction makes its largest entry positive. With one column Y = 0.
// Time O(n·d²).
func PCA(x blas32.General) (Components, error) {
	if x.Rows < 2 || x.Cols < 1 {
		return Components{}, fmt.Errorf("tsne: principal components: found %d rows of %d dimensions, expected "+
			"at least 2 of 1", x.Rows, x.Cols)
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
				return Components{}, fmt.Errorf("tsne: principal components: row %d holds %v, expected finite numbers",
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
	var axes [2][]float64
	axes, c.Variance = leadingAxes(cov)
	for k, v := range c.Variance {
		if total > 0 {
			c.Share[k] = v / total
		}
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

// block is the number of vectors iterated at once: with more, the first two converge sooner.
const block = 16

// leadingAxes returns the two eigenvectors of a covariance with the largest eigenvalues, by subspace iteration with
// Rayleigh-Ritz until both satisfy |C·v - λ·v| ≤ 1e-9·λ₁. It solves small matrices directly.
func leadingAxes(c *mat.SymDense) (axes [2][]float64, values [2]float64) {
	d := c.SymmetricDim()
	k := block
	if d <= 4*block {
		k = d
	}
	full := mat.DenseCopyOf(c)                 // the product of a symmetric matrix has no fast kernel
	basis := mat.NewDense(k, d, nil)           // its rows are the vectors
	draw := rand.New(rand.NewPCG(1, 0x706361)) // "pca"; the start hardly matters
	for i := range k {
		for j := range d {
			basis.Set(i, j, draw.NormFloat64())
		}
	}
	for range 300 {
		orthonormaliseRows(basis)
		if axes, values = ritzAxes(full, basis); hasSettled(c, axes, values) {
			break
		}
		var next mat.Dense
		next.Mul(basis, full)
		basis = &next
	}
	return axes, values
}

// orthonormaliseRows orthonormalises the rows by Gram-Schmidt, twice; a row that adds no direction becomes 0.
func orthonormaliseRows(basis *mat.Dense) {
	k, _ := basis.Dims()
	for i := range k {
		row := basis.RawRowView(i)
		length := floats.Norm(row, 2)
		for range 2 {
			for j := range i {
				other := basis.RawRowView(j)
				floats.AddScaled(row, -floats.Dot(row, other), other)
			}
		}
		if left := floats.Norm(row, 2); left > 1e-12*length {
			floats.Scale(1/left, row)
		} else {
			clear(row)
		}
	}
}

// ritzAxes solves the problem within the span of orthonormal rows.
func ritzAxes(c, basis *mat.Dense) (axes [2][]float64, values [2]float64) {
	k, d := basis.Dims()
	var bc, inner mat.Dense
	bc.Mul(basis, c)
	inner.Mul(&bc, basis.T())
	small := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			small.SetSym(i, j, (inner.At(i, j)+inner.At(j, i))/2)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(small, true) {
		panic("tsne: eigenvalues of a symmetric matrix did not converge") // its numbers are finite
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	all := eigen.Values(nil) // rising
	for n := range axes {
		axes[n] = make([]float64, d)
		if n >= k {
			continue
		}
		values[n] = max(0, all[k-1-n])
		mat.NewVecDense(d, axes[n]).MulVec(basis.T(), vectors.ColView(k-1-n))
		fixSign(axes[n])
	}
	return axes, values
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

func hasSettled(c *mat.SymDense, axes [2][]float64, values [2]float64) bool {
	for n, axis := range axes {
		v := mat.NewVecDense(len(axis), axis)
		var left mat.VecDense
		left.MulVec(c, v)
		left.AddScaledVec(&left, -values[n], v)
		if mat.Norm(&left, 2) > 1e-9*values[0] {
			return false
		}
	}
	return true
}
