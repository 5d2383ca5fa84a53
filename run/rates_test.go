package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/losses"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// short returns the configuration of a short training on the data of screened.
func short() config.Run {
	cfg := config.Default()
	cfg.Head.Out, cfg.Sampler.Classes, cfg.Sampler.Images, cfg.Length = 8, 4, 4, config.LastsSteps(6)
	cfg.Filter.Rate, cfg.Bank.Size = config.GivenRate(0.3), 100
	return cfg
}

// A run that finds its rate by a test equals, to the bit, a run with this rate configured, for every loss. SGD, which
// does not normalise its steps, is tested in another range of rates.
func TestFoundRateIsAsGiven(t *testing.T) {
	try := func(name string, cfg config.Run) {
		t.Helper()
		data, _ := screened(0.3)
		run := func(rate train.LearningRate) (Outcome, []float64) {
			cfg.Solver.LR = rate
			var seen []float64
			out, err := Train(context.Background(), cfg, Input{Data: &data}, Options{},
				train.On(func(s train.Step) { seen = append(seen, s.Loss, s.LR, s.GradientNorm) }))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return out, seen
		}
		found, saw := run(train.LearningRate{Choose: train.ByTest})
		rate := found.Config.Solver.LR
		if !(rate.Value > 0) {
			t.Fatalf("%s: found rate %v", name, rate)
		}
		given, see := run(rate)
		if !slices.Equal(saw, see) {
			t.Errorf("%s: the steps differ from those at a configured rate of %v: %v, %v", name, rate, saw[:6], see[:6])
		}
		for i, p := range found.Head.Params() {
			if !slices.Equal(p.Data, given.Head.Params()[i].Data) {
				t.Errorf("%s: %s differs from the parameter of a run at a configured rate of %v", name, p.Name, rate)
			}
		}
	}
	for _, entry := range losses.Catalog {
		cfg := short()
		cfg.Losses = []config.Loss{{Name: entry.Name, Weight: 1, Against: config.AgainstBatch}}
		try(entry.Name, cfg)
	}
	sgd := short()
	sgd.Solver = train.DefaultSolver("sgd")
	sgd.Solver.Momentum = 0.9
	sgd.Losses = sgd.Losses[1:] // only the loss against the bank
	sgd.Losses[0].Start, sgd.Schedule = config.Steps(3), config.Schedule{WarmUp: config.Steps(5)}
	try("sgd", sgd)
	unfiltered := short()
	unfiltered.Filter.Scorer, unfiltered.Bank.Size, unfiltered.Losses = config.NoFilter, 0, unfiltered.Losses[:1]
	try("without a bank", unfiltered)
}

// A resumed run uses the rate found before, which its folder stores, without another test. A run with another rate
// cannot resume.
func TestFoundRateIsKept(t *testing.T) {
	cfg, whole := trainable(t, t.TempDir(), 1)
	cfg.Solver.LR, cfg.Checkpoint = train.LearningRate{Choose: train.ByTest}, config.Steps(1)
	cut := whole
	cut.Dir += "-cut"
	var notes []string
	whole.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if _, err := Train(t.Context(), cfg, Input{}, whole); err != nil {
		t.Fatal(err)
	}
	facts, err := folder.ReadFacts(whole.Dir)
	if err != nil || facts.RateTest == nil || facts.RateTest.Head == nil || facts.RateTest.Backbone != nil ||
		facts.RateTest.Steps != 2*rangeSteps {
		t.Fatalf("%v: %+v", err, facts.RateTest)
	}
	want := fmt.Sprintf("learning rates by range tests of %d steps, 1 s: head %g", 2*rangeSteps, *facts.RateTest.Head)
	if said := strings.Join(notes, "\n"); !strings.Contains(said, want) {
		t.Errorf("notes: %s", said)
	}
	curve, err := folder.ReadRange(whole.Dir)
	if err != nil || len(curve) != rangeSteps-1 || curve[0].Weights != train.HeadGroup || curve[0].Rate != 1e-6 {
		t.Errorf("%v: the curve has %d points: %+v", err, len(curve), curve[:min(len(curve), 1)])
	}

	ctx, cancel := context.WithCancel(t.Context())
	stop := train.On(func(s train.Step) {
		if s.Number == 2 {
			cancel()
		}
	})
	if _, err := Train(ctx, cfg, Input{}, cut, stop); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run was not stopped: %v", err)
	}
	cut.Resume = true
	other := cfg
	other.Solver.LR = train.GivenLR(0.123)
	if _, err := Train(t.Context(), other, Input{}, cut); err == nil || !strings.Contains(err.Error(), "solver.lr") {
		t.Errorf("resuming with another rate: %v", err)
	}
	resumed, err := Resolve(t.Context(), cfg, Input{}, cut)
	if err != nil {
		t.Fatal(err)
	}
	if resumed.Rates != nil || resumed.Resumed != 2 {
		t.Errorf("resumed after step %d with another test: %+v", resumed.Resumed, resumed.Rates)
	}
	if _, err := resumed.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := resumed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{folder.BestHeadFile, folder.ConfigFile, folder.RangeFile, train.MetricsFile} {
		a, err := os.ReadFile(filepath.Join(whole.Dir, name))
		b, err2 := os.ReadFile(filepath.Join(cut.Dir, name))
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("%s of a stopped and resumed run differs from that of an uninterrupted run", name)
		}
	}
	opened, err := folder.Read(whole.Dir, false)
	if err != nil || opened.Config.Solver.LR.Value != *facts.RateTest.Head {
		t.Errorf("%v: config.yaml has the rate %v, expected %v", err, opened.Config.Solver.LR, *facts.RateTest.Head)
	}
	if err := os.WriteFile(filepath.Join(whole.Dir, folder.RangeFile), []byte("weights,lr\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.ReadRange(whole.Dir); err == nil {
		t.Error("a curve with other columns was read without an error")
	}
}
