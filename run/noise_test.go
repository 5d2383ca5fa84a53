package run

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/run/config"
)

// A noise rate estimated from a subset is close to the rate estimated from all images, and records the subset's size.
// A set of at most that size is used whole, without a change of bits.
func TestRateOfSomeImages(t *testing.T) {
	const n, classes, dim = 3000, 20, 12
	rng := rand.New(rand.NewPCG(3, 4))
	set := features.NewSet(n, dim)
	for i := range n {
		class := i % classes
		set.Labels[i] = class
		if rng.Float64() < 0.3 {
			set.Labels[i] = rng.IntN(classes)
		}
		for j := range dim {
			set.Row(i)[j] = float32(5 + rng.NormFloat64())
		}
		set.Row(i)[class%dim] += 4
		set.Row(i)[(class+1+class/dim)%dim] += 4
	}
	data, err := NewData(set, features.Set{})
	if err != nil {
		t.Fatal(err)
	}
	rate := func(enough int) (float64, string) {
		cfg := config.Default()
		cfg.Filter.Rate = config.Rate{Auto: true}
		e, err := resolveRate(t.Context(), &cfg, data, enough)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(cfg.Filter.Rate.Share-e.Rate) > 1e-4 {
			t.Errorf("the filter's rate is %v, expected the estimate %v", cfg.Filter.Rate, e.Rate)
		}
		return e.Rate, e.Asked()
	}
	whole, said := rate(n)
	if said != "" || math.Abs(whole-0.285) > 0.03 {
		t.Errorf("estimate from all images: %.3f%s", whole, said)
	}
	some, said := rate(1000)
	if said != " of 1000 of 3000 images" || math.Abs(some-whole) > 0.045 { // three standard errors
		t.Errorf("estimate from a subset: %.3f%s, from all images: %.3f", some, said, whole)
	}
}
