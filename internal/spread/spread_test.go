package spread_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/spread"
)

// The quartiles agree with numpy.percentile; the whiskers were computed by hand.
func TestNew(t *testing.T) {
	values := []float64{9, 1, 2, math.NaN(), 3, 4, 100, math.Inf(1), -50}
	want := spread.Spread{N: 7, Least: -50, Low: 1, Q1: 1.5, Median: 3, Q3: 6.5, High: 9, Most: 100}
	if diff := cmp.Diff(want, spread.New(values)); diff != "" {
		t.Error(diff)
	}
	if !math.IsNaN(values[3]) || values[0] != 9 {
		t.Error("the values were changed")
	}
	one := spread.Spread{N: 1, Least: 5, Low: 5, Q1: 5, Median: 5, Q3: 5, High: 5, Most: 5}
	if diff := cmp.Diff(one, spread.New([]float64{5})); diff != "" {
		t.Error(diff)
	}
	if s := spread.New(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("of nothing: %+v", s)
	}
}

func TestQuantile(t *testing.T) {
	list := []float64{10, 20, 40}
	for p, want := range map[float64]float64{0: 10, 0.25: 15, 0.5: 20, 0.75: 30, 0.9: 36, 1: 40} {
		if got := spread.Quantile(list, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v is %v, expected %v", p, got, want)
		}
	}
}

// The results equal numpy 1.24's quantile bit for bit. The simpler formula a + share·(b-a) gives other results.
func TestQuantileIsNumpys(t *testing.T) {
	list := []float64{0.1, 0.3, 0.7, 1.1}
	for p, want := range map[float64]float64{0.21: 0.22599999999999998, 0.22: 0.23199999999999998, 0.23: 0.238} {
		if got := spread.Quantile(list, p); got != want {
			t.Errorf("quantile %v is %v, expected %v", p, got, want)
		}
	}
}
