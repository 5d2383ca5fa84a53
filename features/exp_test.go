package features

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestExpShifted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		x := -700 * math.Pow(rng.Float64(), 4)
		if want := math.Exp(x); !near(ExpShifted(x), want, 2e-15) {
			t.Fatalf("e^%v is %v, expected %v", x, ExpShifted(x), want)
		}
	}
	for x, want := range map[float64]float64{0: 1, math.Inf(-1): 0, -740: math.Exp(-740), -1e300: 0, -1e-300: 1} {
		if got := ExpShifted(x); got != want {
			t.Errorf("e^%v is %v, expected %v", x, got, want)
		}
	}
	if got := ExpShifted(math.NaN()); !math.IsNaN(got) {
		t.Errorf("e^NaN is %v", got)
	}
}

// BenchmarkExp reports the shortest of many times, because other work on the machine can only lengthen them.
func BenchmarkExp(b *testing.B) {
	in, out := make([]float64, 4096), make([]float64, 4096)
	for i := range in {
		in[i] = -30 * float64(i*2654435761%4096) / 4096
	}
	shifted, plain := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		for i, v := range in {
			out[i] = ExpShifted(v)
		}
		middle := time.Now()
		for i, v := range in {
			out[i] = math.Exp(v)
		}
		shifted, plain = min(shifted, middle.Sub(start)), min(plain, time.Since(middle))
	}
	b.ReportMetric(float64(shifted)/float64(len(in)), "shifted-ns/exp")
	b.ReportMetric(float64(plain)/float64(len(in)), "math-ns/exp")
}

func near(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want) }
