package paired

import (
	"math"
	"testing"
)

func TestT(t *testing.T) {
	if p := T([]float64{1}); !math.IsNaN(p) {
		t.Error(p)
	}
	if p := T([]float64{1, 1}); p != .25 { // two signs alike, by chance once in four times
		t.Error(p)
	}
	if p := T([]float64{.3 - .2, .1, .4 - .3, .1, .1}); p != 1./32 { // alike but for the rounding of the differences
		t.Error(p)
	}
	if p := T([]float64{.3 - .2 - .1, .4 - .3 - .1}); p != 1 {
		t.Error(p)
	}
	if p := T([]float64{0, 0}); p != 1 {
		t.Error(p)
	}
	// the density of Student with four degrees of freedom, integrated numerically from t = 2.092457497
	if p := T([]float64{1, 2, 3, 4, -1}); math.Abs(p-0.0522700) > 1e-6 {
		t.Error(p)
	}
}
