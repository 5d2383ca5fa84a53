package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"winnow/features"
)

// averaged makes a bed average over this many steps.
func averaged(steps int) func(*Config) {
	return func(c *Config) { c.Average = steps }
}

// The average compared with one computed by hand in float64: the decays are 2/11, 3/12, 4/13, … in the ramp and
// 1 - 1/3, that of the horizon, from step 16 on. Only the steps of the solvers move it.
func TestAverageFollowsTheWeights(t *testing.T) {
	b, d := newDeepBed(t, "", averaged(3))
	tr := b.trainer(t)
	want, drift := [][]float64{}, make([]float64, 3)
	params := []*features.Param{d.b, d.w, d.mean}
	for _, p := range params {
		want = append(want, wide(p.Data))
	}
	for n := 1; n <= 24; n++ {
		must(tr.trainStep())
		decay := min(2./3, float64(n+1)/float64(n+10))
		for i, p := range params {
			for j, x := range p.Data {
				want[i][j] = decay*want[i][j] + (1-decay)*float64(x)
				drift[i] = max(drift[i], math.Abs(float64(x)-want[i][j]))
				if got := float64(tr.average[i][j]); math.Abs(got-want[i][j]) > 2e-6 {
					t.Fatalf("step %d: %s %d averages to %v, expected %v", n, p.Name, j, got, want[i][j])
				}
			}
		}
		if rests := n < restsUntil; rests != slices.Equal(tr.average[0], d.b.Data) {
			t.Errorf("step %d: what rests keeps its bits: found %v, expected %v", n, !rests, rests)
		}
	}
	if slices.Min(drift) < 1e-4 {
		t.Errorf("the weights were never farther than %v from their average: the test sees nothing", drift)
	}
}

func wide(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

func TestAverageDecay(t *testing.T) {
	for _, c := range []struct {
		horizon, t int
		want       float64
	}{{100, 1, 2. / 11}, {100, 80, 81. / 90}, {100, 10000, 0.99}, {2, 1, 2. / 11}, {2, 50, 0.5}} {
		if got := averageDecay(c.horizon, c.t); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("horizon %d, update %d: decay %v, expected %v", c.horizon, c.t, got, c.want)
		}
	}
}

// The bits do not depend on the number of cores.
func TestAverageOnAnyCores(t *testing.T) {
	run := func(cores int) []float32 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		p := benchParam(300, 701)
		a := make([]float32, len(p.Data))
		for range 5 {
			onAllCores(len(a), func(lo, hi int) { moveTowards(a[lo:hi], p.Data[lo:hi], 0.3) })
		}
		return a
	}
	one := run(1)
	for _, cores := range []int{2, 3} {
		if !slices.Equal(one, run(cores)) {
			t.Errorf("%d cores give other bits than one", cores)
		}
	}
}

// Averaging does not change the run: it learns what it learns without.
func TestAverageLeavesLearningAlone(t *testing.T) {
	run := func(steps int) (*bed, *Trainer) {
		b := newBed(t, "", averaged(steps))
		tr := b.trainer(t)
		must(tr.Run(context.Background()))
		return b, tr
	}
	plain, _ := run(0)
	b, tr := run(5)
	if !slices.Equal(plain.encoder.w.Data, b.encoder.w.Data) {
		t.Error("the weights differ from a run's that averages nothing")
	}
	for i, v := range b.scores {
		if v.Score != plain.scores[i].Score || (v.Averaged == nil) != (v.Step == 0) {
			t.Errorf("validation after step %d: told %+v, without averaging %+v", v.Step, v, plain.scores[i])
		}
	}
	if slices.Equal(tr.average[0], b.encoder.w.Data) {
		t.Error("the average is the last state: the test sees nothing")
	}
}

// The best state is chosen among both; if they are level, the earlier state and the average win. It is saved
// while the encoder holds it, and the learning weights are restored bit for bit.
func TestBestAmongBoth(t *testing.T) {
	scores := [][2]float64{{.5, 0}, {.4, .6}, {.7, .65}, {.7, .7}, {.8, .8}, {.1, .2}, {.8, .3}, {.2, .3}, {.1, .1}}
	type saved struct {
		step     int
		averaged bool
	}
	b := newBed(t, "", averaged(4))
	var tr *Trainer
	var kept []saved
	calls, learning := map[int]int{}, []float32(nil)
	b.cfg.Observe = Together(b.cfg.Observe, On(func(Step) { learning = slices.Clone(b.encoder.w.Data) }))
	b.cfg.Validate = func(context.Context) (float64, error) {
		at := tr.progress.Step
		which := calls[at]
		calls[at]++
		if learning != nil && (which == 1) == slices.Equal(learning, b.encoder.w.Data) {
			t.Errorf("step %d: call %d looks at the learning weights: %v", at, which, which == 1)
		}
		return scores[(at+5)/6][which], nil // 45, the last, after 42
	}
	b.cfg.SaveHead = func(best bool) error {
		if averaged := learning != nil && !slices.Equal(learning, b.encoder.w.Data); best {
			kept = append(kept, saved{tr.progress.Step, averaged})
		} else if averaged {
			t.Errorf("step %d: the average goes into the checkpoint's head", tr.progress.Step)
		}
		return nil
	}
	tr = b.trainer(t)
	result, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if want := []saved{{0, false}, {6, true}, {12, false}, {24, true}}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, expected %v", kept, want)
	}
	if result.BestStep != 24 || result.BestScore != 0.8 || !result.OfAverage || calls[0] != 1 || calls[6] != 2 {
		t.Errorf("result %+v after %v validations", result, calls)
	}
	if !slices.Equal(learning, b.encoder.w.Data) {
		t.Error("the learning weights did not come back")
	}
	tr.UseBest()
	if !slices.Equal(tr.best[0], b.encoder.w.Data) || slices.Equal(learning, b.encoder.w.Data) {
		t.Error("the run ends without its best state")
	}
}

// Without validation the average is the best state, and the last state is the last.
func TestAverageWithoutValidation(t *testing.T) {
	b := newBed(t, "", func(c *Config) { c.Average, c.Validate = 4, nil })
	var best, last []float32
	b.cfg.SaveHead = func(isBest bool) error {
		if isBest {
			best = slices.Clone(b.encoder.w.Data)
		} else {
			last = slices.Clone(b.encoder.w.Data)
		}
		return nil
	}
	tr := b.trainer(t)
	result, err := tr.Run(context.Background())
	if err != nil || !result.OfAverage || result.BestStep != -1 {
		t.Fatal(result, err)
	}
	if !slices.Equal(last, b.encoder.w.Data) || slices.Equal(last, best) || !slices.Equal(best, tr.average[0]) {
		t.Error("the best is not the average, or the last not the last")
	}
	tr.UseBest()
	if !slices.Equal(best, b.encoder.w.Data) {
		t.Error("the run ends without its average")
	}
}

// If a validation of the average fails, the learning weights are restored.
func TestAverageGoesOutAgain(t *testing.T) {
	b := newBed(t, "", averaged(4))
	calls, learning := 0, []float32(nil)
	b.cfg.Observe = Together(b.cfg.Observe, On(func(Step) { learning = slices.Clone(b.encoder.w.Data) }))
	b.cfg.Validate = func(context.Context) (float64, error) {
		if calls++; calls == 3 {
			return 0, context.Canceled
		}
		return 0.5, nil
	}
	tr := b.trainer(t)
	if _, err := tr.Run(context.Background()); !errors.Is(err, context.Canceled) || tr.progress.Step != 6 ||
		tr.progress.Validated != 0 {
		t.Fatalf("%v after step %d", err, tr.progress.Step)
	}
	if !slices.Equal(learning, b.encoder.w.Data) {
		t.Error("the average stayed in the encoder")
	}
}

func TestAverageIsChecked(t *testing.T) {
	for _, steps := range []int{-1, 1} {
		_, err := New(newBed(t, "", averaged(steps)).cfg)
		if want := fmt.Sprintf("train: average: over %d steps, expected at least 2, or 0 for none",
			steps); err == nil || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// BenchmarkAverage follows the weights of a head of 1280→512, and ten million weights in parameters of a
// million.
func BenchmarkAverage(b *testing.B) {
	for _, c := range []struct {
		name              string
		count, rows, cols int
	}{{"head", 1, 1280, 512}, {"10M", 10, 1000, 1000}} {
		b.Run(c.name, func(b *testing.B) {
			var a, x [][]float32
			for range c.count {
				a, x = append(a, make([]float32, c.rows*c.cols)), append(x, benchParam(c.rows, c.cols).Data)
			}
			for b.Loop() {
				for i := range a {
					onAllCores(len(a[i]), func(lo, hi int) { moveTowards(a[i][lo:hi], x[i][lo:hi], 0.01) })
				}
			}
			b.SetBytes(int64(c.count*c.rows*c.cols) * 4 * 3)
		})
	}
}
