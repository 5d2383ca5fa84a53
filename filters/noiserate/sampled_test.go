package noiserate_test

import (
	"math"
	"testing"

	"winnow/features"
	"winnow/filters/noiserate"
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
			whole := estimate(t, z, 60, noiserate.Likelihood)
			sampled := func(n int) noiserate.Estimate {
				e, err := noiserate.NewSampledEstimate(t.Context(), z, 60, n, noiserate.Likelihood, source(seed))
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
