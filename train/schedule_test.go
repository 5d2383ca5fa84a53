package train_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"winnow/train"
)

func mustSchedule(t interface{ Fatal(...any) }, cfg train.ScheduleConfig, lr float64, total, epoch int) train.Schedule {
	s, err := train.NewSchedule(cfg, lr, total, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScheduleValues(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  train.ScheduleConfig
		want []float64 // lr 1, 8 steps, epochs of 2
	}{
		{"no settings", train.ScheduleConfig{}, []float64{1, 1, 1, 1, 1, 1, 1, 1}},
		{"constant with warm-up", train.ScheduleConfig{Name: "constant", Warmup: 4},
			[]float64{0.25, 0.4375, 0.625, 0.8125, 1, 1, 1, 1}},
		{"warm-up from", train.ScheduleConfig{Warmup: 2, WarmupFrom: 0.5}, []float64{0.5, 0.75, 1, 1, 1, 1, 1, 1}},
		{"cosine", train.ScheduleConfig{Name: "cosine"}, []float64{1, 0.9619397662556434, 0.8535533905932737,
			0.6913417161825449, 0.5, 0.3086582838174551, 0.14644660940672627, 0.03806023374435663, 0, 0}},
		{"cosine after warm-up", train.ScheduleConfig{Name: "cosine", Warmup: 4, Min: 0.5, WarmupFrom: 0.2},
			[]float64{0.2, 0.4, 0.6, 0.8, 1, 0.9267766952966369, 0.75, 0.5732233047033631, 0.5, 0.5}},
		{"linear, epoch by epoch", train.ScheduleConfig{Name: "linear", Hold: 0.5},
			[]float64{1, 1, 1, 1, 1, 1, 0.5, 0.5, 0, 0}},
		{"linear from the start, after warm-up", train.ScheduleConfig{Name: "linear", Warmup: 2, WarmupFrom: 0.5},
			[]float64{0.5, 0.75, 1, 1, 2 / 3., 2 / 3., 1 / 3., 1 / 3., 0}},
		{"linear that never falls", train.ScheduleConfig{Name: "linear", Hold: 1},
			[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"multistep after warm-up", train.ScheduleConfig{Name: "multistep", Gamma: 0.5, Milestones: []int{2, 4},
			Warmup:     2,
			WarmupFrom: 0.5}, []float64{0.5, 0.75, 1, 1, 0.5, 0.5, 0.25, 0.25}},
	} {
		s := mustSchedule(t, c.cfg, 1, 8, 2)
		for step, want := range c.want {
			if got := s.At(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: step %d: %v, expected %v", c.name, step, got, want)
			}
		}
	}
}

func TestScheduleStaysInItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(2, 300).Draw(t, "total")
		lr := rapid.Float64Range(1e-6, 10).Draw(t, "lr")
		cfg := train.ScheduleConfig{Name: rapid.SampledFrom([]string{"constant", "cosine", "linear", "multistep",
			"supcon"}).Draw(t, "name")}
		cfg.Warmup = rapid.IntRange(0, total-1).Draw(t, "warmup")
		switch cfg.Name {
		case "cosine":
			cfg.Min = lr * rapid.Float64Range(0, 1).Draw(t, "min")
		case "linear":
			cfg.Hold = rapid.Float64Range(0, 1).Draw(t, "hold")
		case "multistep", "supcon":
			cfg.Gamma = rapid.Float64Range(0.1, 1).Draw(t, "gamma")
		}
		if cfg.Name == "multistep" {
			cfg.Milestones = []int{total / 3, total / 2}
		}
		s := mustSchedule(t, cfg, lr, total, rapid.IntRange(1, total).Draw(t, "epoch"))
		last := 0.0
		for step := range total + 5 {
			at := s.At(step)
			if !(at >= 0 && at <= lr*(1+1e-12)) {
				t.Fatalf("step %d: rate %v is outside 0…%v", step, at, lr)
			}
			if step > 0 && step < cfg.Warmup && at < last {
				t.Fatalf("step %d: rate %v falls during the warm-up", step, at)
			}
			if step > cfg.Warmup && at > last*(1+1e-12) {
				t.Fatalf("step %d: rate %v rises after the warm-up", step, at)
			}
			last = at
		}
	})
}
