package paired_test

import (
	"math"
	"testing"

	"winnow/internal/paired"
)

func TestT(t *testing.T) {
	if p := paired.T([]float64{1}); !math.IsNaN(p) {
		t.Error(p)
	}
	if p := paired.T([]float64{1, 1}); p != .25 { // two signs alike, by chance once in four times
		t.Error(p)
	}
	if p := paired.T([]float64{.3 - .2, .1, .4 - .3, .1,
		.1}); p != 1./32 { // alike but for the rounding of the differences
		t.Error(p)
	}
	if p := paired.T([]float64{.3 - .2 - .1, .4 - .3 - .1}); p != 1 {
		t.Error(p)
	}
	if p := paired.T([]float64{0, 0}); p != 1 {
		t.Error(p)
	}
	// the density of Student with four degrees of freedom, integrated numerically from t = 2.092457497
	if p := paired.T([]float64{1, 2, 3, 4, -1}); math.Abs(p-0.0522700) > 1e-6 {
		t.Error(p)
	}
}

// The interval of 1, 2, 3, 4, 5 around 3 reaches t(4, 0.975) = 2.776445 times sqrt(2.5/5).
func TestCompare(t *testing.T) {
	d := paired.Compare([]float64{1, 2, 3, 4, 5})
	if d.N != 5 || d.Mean != 3 || math.Abs(d.High-3-2.776445*math.Sqrt(.5)) > 1e-5 ||
		math.Abs(d.Low+d.High-6) > 1e-9 || math.Abs(d.P-0.0132356) > 1e-6 {
		t.Errorf("%+v", d)
	}
	if turned := paired.Compare([]float64{-1, -2, -3, -4, -5}); turned.P != d.P || turned.Mean != -3 {
		t.Errorf("%+v", turned)
	}
	if few := paired.Compare([]float64{1, 2, 3, 4}); !math.IsNaN(few.P) || math.IsNaN(few.Low) {
		t.Errorf("a p-value of four: %+v", few)
	}
	if one := paired.Compare([]float64{1}); one.Mean != 1 || !math.IsNaN(one.Low) {
		t.Errorf("%+v", one)
	}
	if same := paired.Compare([]float64{.3 - .2 - .1, 0, 0, 0, 0}); same.Mean != 0 || same.P != 1 {
		t.Errorf("%+v", same)
	}
	if none := paired.Compare(nil); !math.IsNaN(none.Mean) {
		t.Errorf("%+v", none)
	}
}

func TestHolm(t *testing.T) {
	got := paired.Holm([]float64{.04, .01, math.NaN(), .03})
	for i, want := range []float64{.06, .03, math.NaN(), .06} {
		if math.Abs(got[i]-want) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(want) {
			t.Errorf("%v", got)
		}
	}
	if got := paired.Holm([]float64{.9, .8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v", got)
	}
}
