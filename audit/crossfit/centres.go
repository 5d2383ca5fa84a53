package crossfit

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// centres returns the directions of the classes as unit rows, zero for a class without rows of z.
func centres(z blas32.General, labels []int, classes int) blas32.General {
	m := features.NewMatrix(classes, z.Cols)
	for i, y := range labels {
		if y >= 0 {
			blas32.Axpy(1, vector(z, i), vector(m, y))
		}
	}
	for k := range classes {
		if norm := blas32.Nrm2(vector(m, k)); norm > 0 {
			blas32.Scal(1/norm, vector(m, k))
		}
	}
	return m
}

func vector(m blas32.General, i int) blas32.Vector {
	return blas32.Vector{N: m.Cols, Inc: 1, Data: features.Row(m, i)}
}
