package embedding

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

func TestLargestDifference(t *testing.T) {
	of := func(v ...float32) blas32.General {
		return blas32.General{Rows: len(v) / 2, Cols: 2, Stride: 2, Data: v}
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		a, b blas32.General
		want float64
	}{
		{of(1, 2, 3, 4), of(1, 2, 3, 4), 0},
		{of(1, 2, 3, 4), of(1, 2.5, 3, 3.75), 0.5},
		{of(1, 2, 3, 4), of(1, 2), math.Inf(1)},
		{of(nan, 2, 3, 4), of(1, 9, 3, 4), math.NaN()},
		{of(1, 2, 3, nan), of(1, 9, 3, nan), math.NaN()},
	} {
		if got := largestDifference(c.a, c.b); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v and %v: %v, expected %v", c.a.Data, c.b.Data, got, c.want)
		}
	}
}
