package eval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/eval"
)

// The interval of a paired difference equals the interval from queries resampled one by one. It excludes 0 in 5 % of
// the cases without a difference.
func TestPaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(n int, both, one, other float64) (a, b []bool) {
		for range n {
			u := rng.Float64()
			a = append(a, u < both+one)
			b = append(b, u < both || u >= both+one && u < both+one+other)
		}
		return a, b
	}
	a, b := draw(500, 0.5, 0.1, 0.06)
	got := eval.Paired(a, b)
	value := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	var means []float64
	for range 4000 {
		sum := 0.0
		for range a {
			i := rng.IntN(len(a))
			sum += value(a[i]) - value(b[i])
		}
		means = append(means, sum/float64(len(a)))
	}
	var mean, square float64
	for _, v := range means {
		mean += v / float64(len(means))
	}
	for _, v := range means {
		square += (v - mean) * (v - mean) / float64(len(means))
	}
	half := 1.96 * math.Sqrt(square)
	if math.Abs(got.Mean-mean) > 0.002 || math.Abs(got.Low-(mean-half)) > 0.004 ||
		math.Abs(got.High-(mean+half)) > 0.004 {
		t.Errorf("%+v, resampled one by one %.4f ± %.4f", got, mean, half)
	}
	outside := 0
	for range 200 {
		if d := eval.Paired(draw(300, 0.5, 0.08, 0.08)); d.Low > 0 || d.High < 0 {
			outside++
		}
	}
	if outside < 2 || outside > 24 {
		t.Errorf("the interval excludes 0 in %d of 200 cases without a difference, expected about 10", outside)
	}
	if got := eval.Paired([]bool{true, true}, []bool{false, false}); got != (eval.Difference{1, 1, 1}) {
		t.Errorf("always better: %+v", got)
	}
	if got := eval.Paired(nil, nil); got != (eval.Difference{}) {
		t.Errorf("no queries: %+v", got)
	}
}
