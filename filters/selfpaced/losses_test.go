package selfpaced

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

func TestLossesAgainstLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	lone := cloud(40, 6, 3, 1, rng)
	lone.Labels[7], lone.Labels[30] = 90, 91
	one := cloud(12, 4, 1, 0.5, rng)
	alone := cloud(1, 4, 1, 0.5, rng)
	strangers := cloud(9, 4, 3, 0.5, rng)
	for i := range strangers.Labels {
		strangers.Labels[i] = i
	}
	copies := cloud(30, 5, 4, 0.3, rng)
	copy(copies.Row(3), copies.Row(8))
	for name, z := range map[string]features.Set{"lone members": lone, "one class": one, "one sample": alone,
		"no positives": strangers, "copies": copies} {
		for _, c := range []Config{{Alpha: 2, Beta: 50, Base: 1}, {Alpha: 2, Beta: 20, Base: 0.5},
			{Alpha: 5, Beta: 300, Base: -0.9}} {
			got, want := completeLosses(c, z.X, newGrouping(z.Labels)), slowLosses(c, z)
			nearAll(t, name+": ξ⁺", got.Pos, want.Pos, 1e-4, 1e-6)
			nearAll(t, name+": ξ⁻", got.Neg, want.Neg, 1e-4, 1e-6)
			c.References = z.Len() + 5
			all := sampleLosses(c, z.X, newGrouping(z.Labels), rng)
			nearAll(t, name+": ξ⁺ sampled of all", all.Pos, want.Pos, 1e-4, 1e-6)
			nearAll(t, name+": ξ⁻ sampled of all", all.Neg, want.Neg, 1e-4, 1e-6)
		}
	}
}

// TestLossesInBlocks: more samples than fit into a block have the same losses as the kernel on whole rows.
func TestLossesInBlocks(t *testing.T) {
	z := cloud(1500, 8, 40, 0.7, rand.New(rand.NewPCG(2, 2)))
	if z.Len()*z.Len()/2 <= blockEntries {
		t.Fatal("the samples fit into one block, so this test cannot fail")
	}
	got, want := completeLosses(Default(), z.X, newGrouping(z.Labels)), slowLosses(Default(), z)
	nearAll(t, "ξ⁺", got.Pos, want.Pos, 1e-5, 1e-7)
	nearAll(t, "ξ⁻", got.Neg, want.Neg, 1e-5, 1e-7)
}

// TestSampledIsUnbiased: the sums inside the logarithm are right on average, even with few references.
func TestSampledIsUnbiased(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	z := cloud(120, 6, 3, 1, rng)
	c := Config{Alpha: 2, Beta: 4, Base: 0.5, References: 12}
	g := newGrouping(z.Labels)
	want := completeLosses(c, z.X, g)
	const draws = 600
	mean := Losses{make([]float64, z.Len()), make([]float64, z.Len())}
	for range draws {
		l := sampleLosses(c, z.X, g, rng)
		for i := range mean.Pos {
			mean.Pos[i] += math.Expm1(c.Alpha*l.Pos[i]) / draws
			mean.Neg[i] += math.Expm1(c.Beta*l.Neg[i]) / draws
		}
	}
	for i := range mean.Pos {
		near(t, "Σ e^{-α(s-ρ)}", mean.Pos[i], math.Expm1(c.Alpha*want.Pos[i]), 0.15, 0)
		near(t, "Σ e^{β(s-ρ)}", mean.Neg[i], math.Expm1(c.Beta*want.Neg[i]), 0.3, 0)
	}
	total, wanted := 0.0, 0.0
	for i := range mean.Neg {
		total += mean.Neg[i]
		wanted += math.Expm1(c.Beta * want.Neg[i])
	}
	near(t, "Σ_i Σ e^{β(s-ρ)}", total, wanted, 0.03, 0)
}

func TestExponential(t *testing.T) {
	p := newPowers()
	for _, e := range []struct{ slope, base float64 }{{1, 0}, {-2, 1}, {50, 0.3}, {300, 1}, {-299, -1}, {600, 0}} {
		f := newExponential(e.slope, e.base)
		for k := range 4001 {
			s := -1 + float64(k)/2000
			near(t, "e^x", f.at(p, s), math.Exp(e.slope*(s-e.base)), 3e-12, 0)
		}
	}
}

// at returns the exponential at one similarity.
func (e exponential) at(p *powers, s float64) float64 {
	var sum [1]float64
	return addExponentials(e, p, sum[:], []float64{s})
}
