package losses

import (
	"math"
	"testing"
)

func TestExponential(t *testing.T) {
	worstOf := func(e *exponential, k float64) (worst float64) {
		for i := -3; i <= 40100; i++ {
			d := float64(i) * 1e-4
			want := math.Expm1(k * d)
			worst = max(worst, math.Abs(e.minus1(d)-want)/math.Max(math.Abs(want), 1e-300))
		}
		return worst
	}
	for _, k := range []float64{-1, 1e-6, 0.5, 4, 20, 100} {
		e := newExponential(k)
		// |k|·δ itself is rounded: half a digit of it, as an error of the exponent.
		if w := worstOf(e, k); w > 3e-15+math.Abs(k)*4*2.3e-16 {
			t.Errorf("k = %v: off by %.3g", k, w)
		}
		e.table[len(e.table)/2] *= 1 + 1e-12
		if worstOf(e, k) < 1e-13 {
			t.Errorf("k = %v: a wrong table is not seen", k)
		}
	}
	e := newExponential(-1)
	for _, d := range []float64{5, 1e9, -1, math.Inf(1)} {
		if got := e.minus1(d); got != math.Expm1(-d) {
			t.Errorf("%v: %v, expected %v", d, got, math.Expm1(-d))
		}
	}
	if got := e.minus1(math.NaN()); got == got {
		t.Errorf("NaN becomes %v", got)
	}
}
