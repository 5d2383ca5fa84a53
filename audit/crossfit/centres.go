package crossfit

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/leaveout"
)

// computeClassCentres returns the mean directions of the classes as unit rows, zero for a class without rows of z.
func computeClassCentres(z blas32.General, labels []int, classes int) blas32.General {
	m := features.NewMatrix(classes, z.Cols)
	for i, y := range labels {
		if y >= 0 {
			blas32.Axpy(1, viewRow(z, i), viewRow(m, y))
		}
	}
	for k := range classes {
		if norm := blas32.Nrm2(viewRow(m, k)); norm > 0 {
			blas32.Scal(1/norm, viewRow(m, k))
		}
	}
	return m
}

// means holds the class means, for comparison with images that are not members ([leaveout.Means]).
type means struct {
	directions blas32.General // m_k
	spread     float64
	by         *leaveout.Means // nil: directions are unit rows, and similarities are plain dot products
}

// meansOf returns the means of the classes over the labelled rows of z.
func meansOf(z blas32.General, labels []int, classes int) means {
	m, images := means{directions: features.NewMatrix(classes, z.Cols)}, make([]float64, classes)
	for i, y := range labels {
		if y >= 0 {
			blas32.Axpy(1, viewRow(z, i), viewRow(m.directions, y))
			images[y]++
			m.spread++ // unit rows
		}
	}
	sums := make([]float64, len(m.directions.Data))
	for k, n := range images {
		blas32.Scal(float32(1/math.Max(n, 1)), viewRow(m.directions, k))
		for j, v := range features.Row(m.directions, k) {
			sums[k*z.Cols+j] = float64(v) * n
		}
	}
	m.by = leaveout.NewMeans(sums, nil, images, images, m.spread, false)
	return m
}

// compareRowsTo returns the similarities of the unit rows of z to all classes; scratch is reused.
func (m means) compareRowsTo(scratch *[]float32, z blas32.General) blas32.General {
	s := features.Products(scratch, z, m.directions)
	if m.by == nil {
		return s
	}
	row, work := make([]float64, s.Cols), leaveout.NewWork(s.Cols)
	for i := range s.Rows {
		out := features.Row(s, i)
		m.by.Compare(float64s(row, out), leaveout.Left{Square: 1, Spread: m.spread}, work)
		for k, v := range row {
			out[k] = float32(v)
		}
	}
	return s
}

func viewRow(m blas32.General, i int) blas32.Vector {
	return blas32.Vector{N: m.Cols, Inc: 1, Data: features.Row(m, i)}
}
