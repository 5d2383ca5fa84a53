package plan_test

import (
	"testing"
	"time"

	"winnow/cluster/plan"
)

// sound is a job in which nothing fails.
var sound = plan.Job{Images: 1_000_000, ImageBytes: 100_000, Tasks: 100, Workers: 10, Rate: 100, Vector: 2048,
	JoinRate: 100e6, Start: plan.Start}

func draw(t *testing.T, j plan.Job, seed uint64) plan.Outcome {
	t.Helper()
	o, err := j.Draw(seed)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Without failures the times are computed by hand: each worker does ten tasks of 10,000 images, of 100 s and a start of
// 60 s each.
func TestDrawSound(t *testing.T) {
	o := draw(t, sound, 1)
	if want := 10 * (100 + 60) * time.Second; o.Extract != want || o.Failures != 0 || o.Lost != 0 ||
		o.Bound != "workers" || o.Rate != 1000 {
		t.Errorf("%+v, expected %v", o, want)
	}
	if want := 40_960 * time.Millisecond; o.Join != want || o.Wall() != o.Extract+want { // 2 × 2.048 GB at 100 MB/s
		t.Errorf("join %v, expected %v", o.Join, want)
	}
	narrow := sound
	narrow.Storage = 50e6 // 500 images/s for all
	if o := draw(t, narrow, 1); o.Bound != "storage" || o.Rate != 500 || o.Extract != 10*(200+60)*time.Second {
		t.Errorf("%+v", o)
	}
	few := sound
	few.Tasks, few.Workers = 3, 10 // only three work; the largest part is 333,334 images at 100/s, and a minute
	if o := draw(t, few, 1); o.Rate != 300 || o.Extract.Round(time.Second) != 3393*time.Second {
		t.Errorf("%+v", o)
	}
}

// Failures are drawn by the seed, are as many as their rate says, and cost time: less where work is kept.
func TestDrawFailures(t *testing.T) {
	j := sound
	j.Images, j.Rate, j.Tasks = 10_000_000, 10, 1000 // 10⁶ seconds of work in all, and 60,000 of starts
	j.Between, j.Requeue = 10_000*time.Second, 120*time.Second
	if a, b := draw(t, j, 1), draw(t, j, 1); a != b {
		t.Errorf("two draws of a seed: %+v and %+v", a, b)
	}
	if a, b := draw(t, j, 1), draw(t, j, 2); a == b {
		t.Errorf("two seeds draw the same: %+v", a)
	}
	mean := func(j plan.Job) (failures float64, extract time.Duration) {
		const seeds = 20
		for seed := range uint64(seeds) {
			o := draw(t, j, seed)
			failures += float64(o.Failures) / seeds
			extract += o.Extract / seeds
		}
		return failures, extract
	}
	nothing, kept := j, j
	nothing.Kept = 1000 * time.Hour // a task that fails begins from nothing
	kept.Kept = 10 * time.Second
	n, lost := mean(nothing)
	// A task of T = 1,060 s, with failures every m = 10,000 s, fails e^(T/m) - 1 = 0.1118 times before it ends.
	if n < 105 || n > 119 {
		t.Errorf("%.1f failures, expected about 112", n)
	}
	m, saved := mean(kept)
	if m < 99 || m > 113 || saved >= lost { // 106 by the time at work: what is kept is not done twice
		t.Errorf("%.1f failures where work is kept, expected about 106; %v, expected less than %v", m, saved, lost)
	}
	if base := draw(t, plan.Job{Images: j.Images, Tasks: j.Tasks, Workers: j.Workers, Rate: j.Rate, JoinRate: 1e6,
		Start: plan.Start}, 1); saved <= base.Extract {
		t.Errorf("failures cost nothing: %v, %v without", saved, base.Extract)
	}
}

func TestRefused(t *testing.T) {
	for _, j := range []plan.Job{{}, {Images: 1, Tasks: 1, Workers: 1, JoinRate: 1},
		{Images: 1, Tasks: 0, Workers: 1, Rate: 1, JoinRate: 1}} {
		if _, err := j.Draw(1); err == nil {
			t.Errorf("%+v is no error", j)
		}
	}
}
