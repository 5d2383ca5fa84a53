package noiserate

import (
	"math"
	"testing"

	"winnow/features"
)

// For all rows the sampled estimate is the full one. For some it is as close as chance allows, because the
// classes are those of all rows: with the classes of 300 rows only, five of each, labels would show next to
// nothing.
func TestSampledEstimate(t *testing.T) {
	for _, rate := range []float64{0, 0.2, 0.5} {
		for seed := range uint64(2) {
			z, wrong := clusters(seed, 60, 40, 24, rate, false)
			if err := features.Normalize(z.X); err != nil {
				t.Fatal(err)
			}
			whole := estimate(t, z, 60, Likelihood)
			sampled := func(n int) Estimate {
				e, err := NewSampledEstimate(t.Context(), z, 60, n, Likelihood, source(seed))
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			if e := sampled(2400); math.Abs(e.Rate-whole.Rate) > 1e-4 || e.Judged != 2400 ||
				math.Abs(e.High-whole.High) > 1e-3 {
				t.Errorf("rate %v, seed %d: of all rows %.5f of %d, NewEstimate %.5f", rate, seed, e.Rate,
					e.Judged, whole.Rate)
			}
			e, off := sampled(300), 3*math.Sqrt((rate+0.02)*(1-rate)/300)
			if math.Abs(e.Rate-whole.Rate) > off || e.Judged != 300 || e.Low > wrong || e.High < wrong-0.01 {
				t.Errorf("rate %v, seed %d: of 300 rows %.3f [%.3f, %.3f], of all %.3f", rate, seed, e.Rate, e.Low,
					e.High, whole.Rate)
			}
		}
	}
}

func TestSampledRows(t *testing.T) {
	labels := []int{0, -1, 1, 1, -1, 0, 2, 2}
	count := make([]int, len(labels))
	for seed := range uint64(3000) {
		rows := drawLabelled(labels, 2, source(seed))
		if len(rows) != 2 || rows[0] >= rows[1] {
			t.Fatalf("drew %v", rows)
		}
		count[rows[0]]++
		count[rows[1]]++
	}
	for i, n := range count {
		if want := 1000; labels[i] < 0 && n > 0 || labels[i] >= 0 && math.Abs(float64(n-want)) > 5*math.Sqrt(1000) {
			t.Errorf("row %d with label %d was drawn %d times", i, labels[i], n)
		}
	}
	if rows := drawLabelled(labels, 100, source(1)); len(rows) != 6 {
		t.Errorf("of 100 rows asked for and 6 there, drew %v", rows)
	}
	if Enough(20_000) != 53_687 || Enough(5) != 100_000 || Enough(1_000_000) != 20_000 {
		t.Errorf("enough: %d, %d, %d", Enough(20_000), Enough(5), Enough(1_000_000))
	}
}
