package features

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func BenchmarkExpSlice(b *testing.B) {
	x := make([]float64, 1000)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	dst := make([]float64, len(x))
	b.Run("ExpSlice", func(b *testing.B) {
		for b.Loop() {
			ExpSlice(dst, x, 20, -20)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/exp")
	})
	b.Run("math.Exp", func(b *testing.B) {
		for b.Loop() {
			sum := 0.0
			for i, v := range x {
				dst[i] = math.Exp(20*v - 20)
				sum += dst[i]
			}
			dst[0] = sum
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/exp")
	})
}

// exactExp returns e^v in 200 bits, from its power series.
func exactExp(v float64) *big.Float {
	const prec = 200
	x := new(big.Float).SetPrec(prec).SetFloat64(v)
	x.SetMantExp(x, -16) // e^v = (e^(v/65536))^65536
	sum, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for k := 1; k < 40; k++ {
		term.Mul(term, x)
		term.Quo(term, new(big.Float).SetPrec(prec).SetInt64(int64(k)))
		sum.Add(sum, term)
	}
	for range 16 {
		sum.Mul(sum, sum)
	}
	return sum
}

// expError returns the largest relative error over numbers of all magnitudes.
func expError(exp func(dst, x []float64, scale, shift float64) float64) (worst, at float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	x, dst := make([]float64, 6000), make([]float64, 6000)
	for i := range x {
		x[i] = (2*rng.Float64() - 1) * math.Pow(2, float64(i%20)-10)
		x[i] = math.Max(math.Min(x[i], 707), -707)
	}
	copy(x, []float64{0, 707, -707, math.Ln2, -math.Ln2, math.Ln2 / 256, 1e-300, math.Copysign(0, -1)})
	exp(dst, x, 1, 0)
	for i, v := range x {
		want := exactExp(v)
		diff := new(big.Float).SetPrec(200).Sub(new(big.Float).SetFloat64(dst[i]), want)
		if rel, _ := diff.Quo(diff, want).Float64(); math.Abs(rel) > worst {
			worst, at = math.Abs(rel), v
		}
	}
	return worst, at
}

func TestExpSliceIsExact(t *testing.T) {
	worst, at := expError(ExpSlice)
	t.Logf("largest relative error %.3g, at %v", worst, at)
	if worst > 1e-15 {
		t.Errorf("e^%v has a relative error of %.3g, expected less than 1e-15", at, worst)
	}
	if worst, _ := expError(func(dst, x []float64, _, _ float64) float64 {
		return ExpSlice(dst, x, 1, 2e-15)
	}); worst <= 1e-15 {
		t.Error("a relative error of 2e-15 goes unnoticed")
	}
}

func TestExpSliceAtTheEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{1, inf, 2, -inf, nan, 709.5, 710, -708.5, -744, -746, 1e300, -1e300, 1 << 52, -1 << 60, 3}
	dst := make([]float64, len(x))
	ExpSlice(dst, x, 1, 0)
	for i, v := range x {
		want := math.Exp(v)
		if math.Float64bits(dst[i]) != math.Float64bits(want) && !near(dst[i], want, 1e-15) {
			t.Errorf("e^%v = %v, expected %v", v, dst[i], want)
		}
	}
	if sum := ExpSlice(dst, x[:1], 1, -inf); sum != 0 || dst[0] != 0 {
		t.Errorf("e^-Inf = %v, sum %v", dst[0], sum)
	}
	if sum := ExpSlice(nil, nil, 1, 0); sum != 0 {
		t.Errorf("the sum of an empty slice is %v, expected 0", sum)
	}
}

func TestExpSliceSumsScalesAndShiftsInPlace(t *testing.T) {
	x := []float64{0.25, -0.5, 900, 0.125, -900, 1}
	want, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		want[i] = math.Exp(3*v - 2000)
		sum += want[i]
	}
	got := ExpSlice(x, x, 3, -2000)
	if !near(got, sum, 1e-14) {
		t.Errorf("sum %v, expected %v", got, sum)
	}
	for i := range x {
		if !near(x[i], want[i], 1e-14) {
			t.Errorf("entry %d: %v, expected %v", i, x[i], want[i])
		}
	}
}

func near(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }
