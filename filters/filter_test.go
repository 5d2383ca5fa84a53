package filters

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// stream is a world that generates any number of batches.
type stream struct {
	world
	r *rand.Rand
}

func newStream(seed uint64, dim, classes int, shift float64) stream {
	r := rand.New(rand.NewPCG(seed, 99))
	w, _ := newWorld(r, dim, classes, 1, 0, shift, 0)
	return stream{w, r}
}

// batch draws n rows of random classes; a share wrong of them gets a wrong label.
func (s stream) batch(n int, wrong float64) (features.Set, []bool) {
	z, right := s.draw(s.r, n, wrong)
	order := s.r.Perm(n)
	shuffled := make([]bool, n)
	for to, from := range order {
		shuffled[to] = right[from]
	}
	return z.Rows(order), shuffled
}

func mustNew(t *testing.T, w world, change func(*Config)) *Filter {
	t.Helper()
	c := Default()
	c.AvgSimSteps = 0
	if change != nil {
		change(&c)
	}
	f, err := New(c, w.env())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNothingSeenYetKeepsAll(t *testing.T) {
	s := newStream(1, 8, 4, 0.6)
	for _, entry := range Catalog {
		f := mustNew(t, s.world, func(c *Config) { c.Scorer = entry.Name })
		var bank *features.Bank
		if entry.NeedsBank {
			bank = features.NewBank(50, 8, 4)
		}
		z, _ := s.batch(16, 0.4)
		kept, scores := f.Keep(z, bank)
		equal(t, 0, entry.Name+" keeps", kept, features.AllRows(16))
		if len(scores) != 16 || len(f.State().Window) != 0 || !math.IsInf(f.Threshold(), -1) {
			t.Errorf("%s: %d scores, window %v, threshold %v", entry.Name, len(scores), f.State().Window, f.Threshold())
		}
		if bank != nil {
			bank.Push(z)
		}
		next, _ := s.batch(16, 0.4)
		if kept, _ := f.Keep(next, bank); len(kept) == 16 || len(kept) == 0 {
			t.Errorf("%s: the second batch keeps %d of 16", entry.Name, len(kept))
		}
		if kept, _ := f.Keep(features.NewSet(0, 8), bank); len(kept) != 0 || f.State().Iteration != 3 {
			t.Errorf("%s: an empty batch keeps %v, iteration %d", entry.Name, kept, f.State().Iteration)
		}
	}
}

func TestWarmUpKeepsAll(t *testing.T) {
	s := newStream(2, 8, 4, 0.6)
	f := mustNew(t, s.world, func(c *Config) { c.Scorer, c.WarmUp = "avgsim", 3 })
	bank := features.NewBank(50, 8, 4)
	for i := range 5 {
		z, _ := s.batch(16, 0.4)
		kept, _ := f.Keep(z, bank)
		bank.Push(z.Rows(kept))
		if everything := len(kept) == 16; everything != (i < 3) {
			t.Errorf("iteration %d keeps %d of 16", i, len(kept))
		}
		if empty := len(f.State().Window) == 0; empty != (i < 3) {
			t.Errorf("iteration %d: the window is %v", i, f.State().Window)
		}
	}
}

// AvgSim's scores are near 1/C, vMF-Sim's near 0 and 1, so a change of scorer must clear the window.
func TestVMFBeginsWithAvgSim(t *testing.T) {
	for _, threshold := range []string{ThresholdMedian, ThresholdFixed} {
		s := newStream(3, 16, 5, 0.9)
		f := mustNew(t, s.world, func(c *Config) { c.AvgSimSteps, c.Threshold, c.Rate = 4, threshold, 0.5 })
		bank := features.NewBank(100, 16, 5)
		for i := range 7 {
			z, _ := s.batch(20, 0.4)
			want := (&AvgSim{}).Score(nil, z, bank, false)
			early := i < 4
			if !early {
				want = (&VMF{Kappa: KappaBanerjee}).Score(nil, z, bank, false)
			}
			kept, scores := f.Keep(z, bank)
			nearAll(t, fmt.Sprintf("%s: iteration %d", threshold, i), scores, want, 1e-12, 0)
			size := max(0, i)
			if !early {
				size = i - 3
				if threshold == ThresholdFixed {
					size = 0
					near(t, "threshold", f.Threshold(), 0.5, 0, 0)
				}
			}
			if got := f.State(); len(got.Window) != size || got.Early != early {
				t.Errorf("%s: iteration %d: window %v, early %v; expected %d values", threshold, i, got.Window,
					got.Early, size)
			}
			bank.Push(z.Rows(kept))
		}
	}
}

// If no class has two members, vMF-Sim cannot score, whatever the iteration.
func TestVMFFallsBackToAvgSim(t *testing.T) {
	s := newStream(4, 8, 6, 0.8)
	f := mustNew(t, s.world, nil)
	bank := features.NewBank(6, 8, 6)
	singles, _ := s.draw(s.r, 12, 0)
	bank.Push(singles.Rows([]int{0, 2, 4, 6, 8, 10}))
	z, _ := s.batch(12, 0.3)
	_, scores := f.Keep(z, bank)
	nearAll(t, "P", scores, (&AvgSim{}).Score(nil, z, bank, false), 1e-12, 0)
	bank.Push(z)
	_, scores = f.Keep(z, bank)
	nearAll(t, "P", scores, (&VMF{Kappa: KappaBanerjee}).Score(nil, z, bank, false), 1e-12, 0)
}

// Without a bank, classes not seen in an earlier batch score 1.
func TestProxySimRemembersClasses(t *testing.T) {
	s := newStream(5, 8, 4, 0.8)
	f := mustNew(t, s.world, func(c *Config) { c.Scorer = "proxysim" })
	z, _ := s.batch(8, 0)
	f.Keep(z.Rows(rowsWith(z, 0, 1)), nil)
	both := z.Rows(rowsWith(z, 1, 2))
	_, scores := f.Keep(both, nil)
	for i, k := range both.Labels {
		if isNew := scores[i] == 1; isNew != (k == 2) {
			t.Errorf("class %d scores %v", k, scores[i])
		}
	}
	equal(t, 0, "seen", f.State().Seen, []int{0, 1, 2})
}

func rowsWith(z features.Set, labels ...int) []int {
	var rows []int
	for i, k := range z.Labels {
		if slices.Contains(labels, k) {
			rows = append(rows, i)
		}
	}
	return rows
}

// A filter and a bank that are restored in the middle continue bit-identically, for every scorer and stopping point.
func TestResumedFilterIsTheSame(t *testing.T) {
	for _, entry := range Catalog {
		for _, threshold := range thresholds {
			if threshold != ThresholdFixed || entry.FixedBar {
				t.Run(entry.Name+"/"+threshold, func(t *testing.T) { checkResumed(t, entry, threshold) })
			}
		}
	}
}

func checkResumed(t *testing.T, entry Entry, threshold string) {
	for _, stop := range []int{0, 1, 3, 7} {
		s := newStream(6, 12, 5, 0.7)
		build := func() (*Filter, *features.Bank) {
			return mustNew(t, s.world, func(c *Config) {
				c.Scorer, c.Threshold, c.Rate, c.Window, c.WarmUp, c.AvgSimSteps = entry.Name, threshold, 0.4, 3, 1, 4
			}), features.NewBank(40, 12, 5)
		}
		f, bank := build()
		for range stop {
			z, _ := s.batch(20, 0.4)
			kept, _ := f.Keep(z, bank)
			bank.Push(z.Rows(kept))
		}
		resumed, resumedBank := build()
		if err := errors.Join(resumed.SetState(f.State()), resumedBank.SetState(bank.State())); err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			z, _ := s.batch(20, 0.4)
			kept, scores := f.Keep(z, bank)
			again, scoresAgain := resumed.Keep(z, resumedBank)
			if !slices.Equal(kept, again) || !slices.Equal(scores, scoresAgain) ||
				f.Threshold() != resumed.Threshold() {
				t.Fatalf("%s stopped at %d differs after %d more batches", entry.Name, stop, i)
			}
			bank.Push(z.Rows(kept))
			resumedBank.Push(z.Rows(kept))
		}
		if diff := cmp.Diff(f.State(), resumed.State()); diff != "" {
			t.Errorf("%s stopped at %d:\n%s", entry.Name, stop, diff)
		}
	}
}

func TestBadFilterStatesAreRefused(t *testing.T) {
	s := newStream(7, 8, 4, 0.8)
	for scorer, states := range map[string][]State{
		"avgsim": {{Early: true, ByOdds: true}, {Window: make([]float64, 31), ByOdds: true},
			{Window: []float64{0.1}}},
		"proxysim": {{Seen: []int{4}, ByOdds: true}},
	} {
		f := mustNew(t, s.world, func(config *Config) { config.Scorer = scorer })
		for _, state := range states {
			before := f.State()
			if err := f.SetState(state); err == nil {
				t.Errorf("no error for state %+v", state)
			}
			if diff := cmp.Diff(before, f.State()); diff != "" {
				t.Errorf("SetState changed the filter:\n%s", diff)
			}
		}
	}
}

// BatchPositive uses the batch only, also for a class that is new.
func TestBatchPositiveJudgesNewClasses(t *testing.T) {
	s := newStream(8, 8, 4, 0.8)
	f := mustNew(t, s.world, func(c *Config) { c.Scorer = "batch_positive" })
	z, _ := s.batch(16, 0.3)
	f.Keep(z.Rows(rowsWith(z, 0, 1)), nil)
	next := z.Rows(rowsWith(z, 2, 3))
	_, scores := f.Keep(next, nil)
	nearAll(t, "score", scores, BatchPositive{}.Score(nil, next, nil, false), 1e-15, 0)
}
