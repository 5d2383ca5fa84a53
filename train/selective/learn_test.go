package selective

import (
	"context"
	"testing"

	"winnow/features"
	"winnow/head"
	"winnow/train"
	"winnow/train/peers"
)

// crossEntropyRun returns P@1 of a head trained on all given labels by cross entropy for the same number of epochs.
func crossEntropyRun(t *testing.T, set features.Set, truth []int, classes, epochs int, seed uint64) float64 {
	t.Helper()
	sampler, err := train.NewSampler(train.Shuffle{Rows: 60}, set.Labels, seed)
	if err != nil {
		t.Fatal(err)
	}
	h, err := head.New(t.Context(), head.Config{In: set.Dim(), Out: 12, Bias: true, Init: head.Random}, set.X,
		train.Rand(seed, "head", 0))
	if err != nil {
		t.Fatal(err)
	}
	clock := new(train.Clock)
	n, err := peers.New(t.Context(), peers.Default(peers.CrossEntropy),
		peers.Input{Head: h, Train: set, Classes: classes, Batch: sampler.Size(), Clock: clock, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	cfg := train.Config{Encoder: n, Sampler: sampler, Terms: []train.Term{n.Term()}, Steps: epochs * sampler.Batches(),
		Clock: clock}
	cfg.Groups, err = n.Groups(cfg.Steps, 0, func(_ string, steps int) (train.Solver, train.Schedule, error) {
		solver, err := train.NewSolver(train.DefaultSolver("adam"))
		if err != nil {
			return nil, train.Schedule{}, err
		}
		schedule, err := train.NewSchedule(train.ScheduleConfig{Name: "cosine"}, 3e-3, steps, sampler.Batches())
		return solver, schedule, err
	})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := train.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return precision1(t, h, set, truth)
}

// With 40 % wrong labels, the rows that each method selects have far more correct labels than random rows, and its
// embedding is better than the embedding of a network that trusts all labels.
func TestLearnFromWrongLabels(t *testing.T) {
	const classes, epochs = 10, 16
	for seed := range uint64(3) {
		set, truth := clusters(seed, classes, 60, 0.4)
		chance := 0.0
		for i := range truth {
			if truth[i] == set.Labels[i] {
				chance += 1 / float64(len(truth))
			}
		}
		plain := crossEntropyRun(t, set, truth, classes, epochs, seed)
		for _, method := range Methods() {
			cfg := Default(method)
			if method == TCL {
				cfg.WarmUp = 4
			}
			b := newBed(t, cfg, set, truth, classes, epochs, seed)
			before := precision1(t, b.head, set, truth)
			b.run(t)
			after := precision1(t, b.head, set, truth)
			t.Logf("seed %d: %s: right labels among %d chosen %.3f, of all %.3f; P@1 %.3f → %.3f, cross entropy %.3f",
				seed, method, b.kept[0], b.clean(), chance, before, after, plain)
			if !cleaner(b.clean(), chance) || cleaner(chance, chance) { // the check must reject a choice of all rows
				t.Errorf("seed %d: %s: %.3f of the labels chosen are right, by chance %.3f", seed, method,
					b.clean(), chance)
			}
			if after < plain+0.02 {
				t.Errorf("seed %d: %s: P@1 is %.3f, of cross entropy %.3f", seed, method, after, plain)
			}
		}
	}
}

// cleaner reports whether a selection is far better than chance.
func cleaner(clean, chance float64) bool { return clean > chance+0.2 }
