package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
)

// curveOf returns the curve of a range test with 40 steps and rates from 1e-6 to 0.1. The loss with fixed weights is 2;
// learning adds change(step, log₁₀ of the rate).
func curveOf(change func(i int, lg float64) float64) []RangePoint {
	s := Rising(1e-6, 0.1, 40)
	var losses, still []float64
	for i := range 40 {
		losses, still = append(losses, 2), append(still, 2)
		if i > 0 {
			losses[i] += change(i-1, math.Log10(s.At(i-1)))
		}
	}
	return Range(s, losses, still)
}

// FindRate finds a rate for curves of all kinds. For a flat curve it returns the usual rate.
func TestFindRate(t *testing.T) {
	valley := func(_ int, lg float64) float64 { return (lg+3)*(lg+3)/2 - 0.5 } // lowest at 1e-3
	falls := func(_ int, lg float64) float64 { return -math.Pow(10, lg) * 10 }
	rises := func(_ int, lg float64) float64 { return math.Pow(10, lg) * 100 } // rises by a twentieth at 1e-3
	rng := Rand(1, "noise", 0)
	for _, c := range []struct {
		name     string
		curve    []RangePoint
		from, to float64
		fell     bool
	}{
		{"a valley", curveOf(valley), 0.8e-4, 1.25e-4, true},
		{"a noisy valley", curveOf(func(i int, lg float64) float64 { return valley(i, lg) + 0.1*rng.NormFloat64() }),
			0.4e-4, 2.5e-4, true},
		{"a valley with outlier batches", curveOf(func(i int, lg float64) float64 {
			if i%5 == 2 {
				return 50 - float64(i%2)*100
			}
			return valley(i, lg)
		}), 0.4e-4, 2.5e-4, true},
		{"it falls to the end", curveOf(falls), 0.7e-2, 1e-2, true},
		{"it rises from 1e-3 on", curveOf(rises), 0.5e-4, 1.1e-4, false},
		{"it rises at once", curveOf(func(int, float64) float64 { return 1 }), 1e-7, 1e-7, false},
		{"it stays", curveOf(func(int, float64) float64 { return 0 }), 3e-4, 3e-4, false},
		{"its fall is too small", curveOf(func(int, float64) float64 { return -0.001 }), 3e-4, 3e-4, false},
		{"numbers end in the valley", curveOf(valley)[:24], 0.7e-4, 1.25e-4, true},
		{"numbers end at once", nil, 3e-4, 3e-4, false},
		{"no loss is active", Range(Rising(1e-6, 0.1, 40), make([]float64, 40), make([]float64, 40)), 3e-4,
			3e-4, false},
	} {
		f := FindRate(c.curve, 0.1, 3e-4)
		if !(f.Rate >= c.from*0.999 && f.Rate <= c.to*1.001) || (f.Lowest > 0) != c.fell {
			t.Errorf("%s: found %+v, expected a rate from %g to %g, fallen: %v", c.name, f, c.from, c.to, c.fell)
		}
	}
}

// Probe restores the weights even after an overflow: a run after Probe equals a run without Probe.
func TestProbePutsBack(t *testing.T) {
	run := func(probed bool, rate float64) []float32 {
		cfg, e := probing(t)
		if probed {
			probe, _ := probing(t)
			probe.Encoder, probe.Clock = e, cfg.Clock
			probe.Groups[0].Params, probe.Groups[0].Schedule = e.Params(), Rising(1e-4, rate, probe.Steps)
			losses, err := Probe(context.Background(), probe)
			if err != nil || len(losses) == 0 || cfg.Clock.Step() != 0 {
				t.Fatalf("%v, losses %v, step %d", err, losses, cfg.Clock.Step())
			}
			for i, l := range losses {
				if !isFiniteLoss(l) {
					t.Errorf("loss %d is %v", i, l)
				}
			}
		}
		tr, err := New(cfg)
		if err == nil {
			_, err = tr.Run(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		return e.w.Data
	}
	want := run(false, 0)
	for _, rate := range []float64{0.1, 1e38} { // the second rate causes an overflow
		if !slices.Equal(run(true, rate), want) {
			t.Errorf("a run after a probe up to rate %g differs", rate)
		}
	}
	cfg, _ := probing(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Probe(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// probing returns a small run with a memory bank and a filter that uses the bank.
func probing(t *testing.T) (Config, *linear) {
	t.Helper()
	set, _ := clusters(3, 6, 8, 12, 0.2)
	e := newLinear(set, 4, 1)
	sampler, err := NewSampler(Groups{Classes: 4, Images: 3}, set.Labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	loss := must(losses.New("contrastive", nil, losses.Env{Dim: 4, Classes: 6}))
	fc := filters.Default()
	fc.Rate = 0.2
	solver := DefaultSolver("adam")
	cfg := Config{Encoder: e, Sampler: sampler, Terms: []Term{{Name: "batch", Loss: loss, Weight: 1},
		{Name: "bank", Loss: loss, Weight: 1, Bank: true}}, Bank: features.NewBank(24, 4, 6),
		Filter: must(filters.New(fc, filters.Env{Dim: 4, Classes: 6})), Steps: 12, Clock: new(Clock)}
	cfg.Groups = oneGroup(e, solver, Schedule{ScheduleConfig: ScheduleConfig{Name: "constant"}, LR: 0.01,
		Total: 12, Epoch: 12})
	return cfg, e
}

// A learning rate is formatted as the text from which it was parsed.
func TestLearningRateText(t *testing.T) {
	for _, text := range []string{"auto", "0", "0.0003", "1e-05", "1e+06"} {
		var r LearningRate
		if err := r.UnmarshalText([]byte(text)); err != nil || r.String() != text {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "-1", "NaN", "inf", "fast", "automatic"} {
		if err := new(LearningRate).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was parsed, expected an error", text)
		}
	}
}
