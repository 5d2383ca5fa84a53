package spread_test

import (
	"math"
	"testing"

	"winnow/internal/spread"
)

func TestT(t *testing.T) {
	if p := spread.T([]float64{1}); !math.IsNaN(p) {
		t.Error(p)
	}
	if p := spread.T([]float64{1, 1}); p != .25 { // two positive values: 1/4 by the sign test
		t.Error(p)
	}
	if p := spread.T([]float64{.3 - .2, .1, .4 - .3, .1,
		.1}); p != 1./32 { // equal up to rounding of the differences
		t.Error(p)
	}
	if p := spread.T([]float64{.3 - .2 - .1, .4 - .3 - .1}); p != 1 {
		t.Error(p)
	}
	if p := spread.T([]float64{0, 0}); p != 1 {
		t.Error(p)
	}
	// the density of Student's t with 4 degrees of freedom, integrated numerically from t = 2.092457497
	if p := spread.T([]float64{1, 2, 3, 4, -1}); math.Abs(p-0.0522700) > 1e-6 {
		t.Error(p)
	}
}

// The interval of 1, 2, 3, 4, 5 around 3 extends t(4, 0.975) = 2.776445 times sqrt(2.5/5).
func TestCompare(t *testing.T) {
	d := spread.Compare([]float64{1, 2, 3, 4, 5})
	if d.N != 5 || d.Mean != 3 || math.Abs(d.High-3-2.776445*math.Sqrt(.5)) > 1e-5 ||
		math.Abs(d.Low+d.High-6) > 1e-9 || math.Abs(d.P-0.0132356) > 1e-6 {
		t.Errorf("%+v", d)
	}
	if turned := spread.Compare([]float64{-1, -2, -3, -4, -5}); turned.P != d.P || turned.Mean != -3 {
		t.Errorf("%+v", turned)
	}
	// with one degree of freedom, p = 1 - (2/π) atan t; the t of 1 and 3 is 2
	if two := spread.Compare([]float64{1, 3}); math.Abs(two.P-(1-2/math.Pi*math.Atan(2))) > 1e-9 ||
		math.Abs(two.SD-math.Sqrt2) > 1e-12 {
		t.Errorf("of two: %+v", two)
	}
	if one := spread.Compare([]float64{1}); one.Mean != 1 || !math.IsNaN(one.Low) {
		t.Errorf("%+v", one)
	}
	if same := spread.Compare([]float64{.3 - .2 - .1, 0, 0, 0, 0}); same.Mean != 0 || same.P != 1 {
		t.Errorf("%+v", same)
	}
	if none := spread.Compare(nil); !math.IsNaN(none.Mean) {
		t.Errorf("%+v", none)
	}
}

func TestHolm(t *testing.T) {
	got := spread.Holm([]float64{.04, .01, math.NaN(), .03})
	for i, want := range []float64{.06, .03, math.NaN(), .06} {
		if math.Abs(got[i]-want) > 1e-12 || math.IsNaN(got[i]) != math.IsNaN(want) {
			t.Errorf("%v", got)
		}
	}
	if got := spread.Holm([]float64{.9, .8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v", got)
	}
}

// Needs agrees within one with power tables for paired t-tests (Cohen 1988, table 2.4.1: d = 1, .8, .5 at α = .05 and
// power .8 need 10, 15 and 34 pairs).
func TestNeeds(t *testing.T) {
	for mean, want := range map[float64]int{1: 10, .8: 15, .5: 34, -.5: 34} {
		if n := (spread.Difference{Mean: mean, SD: 1}).Needs(.05); n < want-1 || n > want+1 {
			t.Errorf("a difference of %v standard deviations needs %d, expected %d", mean, n, want)
		}
	}
	if d := (spread.Difference{Mean: .5, SD: 1}); d.Needs(.05/68) <= d.Needs(.05) {
		t.Error("a smaller level needs no more")
	}
	if n := (spread.Difference{Mean: .1}).Needs(.05); n != 6 { // 2 · 2⁻⁶ is .03
		t.Errorf("equal differences need %d", n)
	}
	for _, d := range []spread.Difference{{Mean: 0, SD: 1}, {Mean: .001, SD: 1}, {Mean: 1, SD: math.NaN()}} {
		if n := d.Needs(.05); n != 0 {
			t.Errorf("%+v needs %d", d, n)
		}
	}
}
