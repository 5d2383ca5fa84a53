package train

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
)

// oneGroup returns a group of all parameters of an encoder.
func oneGroup(e Encoder, c SolverConfig, s Schedule) []Group {
	return []Group{{Name: HeadGroup, Params: e.Params(), Solver: must(NewSolver(c)), Schedule: s}}
}

// learn trains a linear head on clusters with 40 % wrong labels. It returns P@1 for the true labels before and after
// training, and the share of correct labels among the rows kept in the last third of the steps.
func learn(t *testing.T, seed uint64, filtered bool) (before, after, clean float64) {
	t.Helper()
	const classes, dim, corrupt = 20, 16, 0.4
	set, truth := clusters(seed, classes, 30, 24, corrupt)
	e := newLinear(set, dim, seed)
	sampler := must(NewSampler(Groups{Classes: 10, Images: 4}, set.Labels, seed))
	steps := 12 * sampler.Batches()
	contrastive := func() losses.Loss {
		return must(losses.New("contrastive", nil, losses.Env{Dim: dim, Classes: classes}))
	}
	var right, kept int
	cfg := Config{
		Encoder: e, Sampler: sampler, Steps: steps, Bank: features.NewBank(2048, dim, classes),
		Terms: []Term{{Name: "batch", Loss: contrastive(), Weight: 1},
			{Name: "bank", Loss: contrastive(), Weight: 1, Bank: true}},
		Groups: oneGroup(e, DefaultSolver("adam"),
			must(NewSchedule(ScheduleConfig{Name: "cosine"}, 1e-2, steps, sampler.Batches()))),
		Observe: On(func(s Step) {
			if s.Number < steps*2/3 {
				return
			}
			for _, i := range s.Kept {
				kept++
				if row := s.IDs[i] - 1000; truth[row] == set.Labels[row] {
					right++
				}
			}
		}),
	}
	if filtered {
		fc := filters.Default()
		fc.Rate, fc.AvgSimSteps = corrupt, sampler.Batches()
		cfg.Filter = must(filters.New(fc, filters.Env{Dim: dim, Classes: classes}))
	}
	before = e.precision1(set, truth)
	if _, err := must(New(cfg)).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return before, e.precision1(set, truth), float64(right) / float64(kept)
}

// With a filter, far more of the kept labels than of the given labels are correct, and the embedding is better than
// without a filter.
func TestFilteredTrainingBeatsUnfiltered(t *testing.T) {
	for seed := range uint64(4) {
		before, plain, chance := learn(t, seed, false)
		_, filtered, clean := learn(t, seed, true)
		t.Logf("seed %d: P@1 %.3f untrained, %.3f unfiltered, %.3f filtered; right labels among kept %.3f, "+
			"without filter %.3f", seed, before, plain, filtered, clean, chance)
		if chance > 0.66 || clean < chance+0.15 {
			t.Errorf("seed %d: %.3f of the kept labels are right, without a filter %.3f", seed, clean, chance)
		}
		if filtered < before+0.1 || filtered < plain {
			t.Errorf("seed %d: P@1 %.3f untrained, %.3f unfiltered, %.3f filtered", seed, before, plain, filtered)
		}
	}
}

// still is an encoder that computes nothing, so that benchmarks measure only the trainer.
type still struct {
	z features.Set
	p *features.Param
}

func (s *still) Forward([]int) (features.Set, error) { return s.z, nil }
func (s *still) Backward(blas32.General) error       { return nil }
func (s *still) Params() []*features.Param           { return []*features.Param{s.p} }

func stillTrainer(t testing.TB, filtered bool) *Trainer {
	const n, d, classes = 64, 512, 100
	rng := Rand(1, "still", 0)
	z := features.NewSet(n, d)
	for i := range z.X.Data {
		z.X.Data[i] = float32(rng.NormFloat64())
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	labels := make([]int, classes*40)
	for i := range labels {
		labels[i] = i % classes
	}
	for i := range z.Labels {
		z.Labels[i], z.IDs[i] = i/4, i
	}
	encoder := &still{z, features.NewParam("w", 1, 1)}
	cfg := Config{
		Encoder: encoder, Sampler: must(NewSampler(Groups{Classes: 16, Images: 4}, labels, 1)), Steps: 1 << 40,
		Terms: []Term{{Name: "ones", Weight: 1,
			Loss: fakeLoss(func(g *blas32.General, z features.Set, _ *features.Set) float64 {
				for i := range g.Data[:g.Rows*g.Cols] {
					g.Data[i] = 1
				}
				return 1
			})}},
		Bank:   features.NewBank(8192, d, classes),
		Groups: oneGroup(encoder, DefaultSolver("sgd"), must(NewSchedule(ScheduleConfig{}, 1e-3, 1<<40, 60))),
	}
	if filtered {
		fc := filters.Default()
		fc.AvgSimSteps = 0
		cfg.Filter = must(filters.New(fc, filters.Env{Dim: d, Classes: classes}))
	}
	return must(New(cfg))
}

// A step of the trainer allocates very little: the batches, once per epoch, and the allocations of solver and schedule.
func TestStepsDoNotAllocate(t *testing.T) {
	tr := stillTrainer(t, false)
	must(tr.trainStep())
	per := testing.AllocsPerRun(40, func() { must(tr.trainStep()) })
	if per > 8 {
		t.Errorf("%v allocations a step, expected at most 8", per)
	}
}

// BenchmarkTrainerStep measures the trainer's own work, without encoder, losses and filter: gathering, scattering,
// checks and the bank.
func BenchmarkTrainerStep(b *testing.B) {
	tr := stillTrainer(b, false)
	b.ReportAllocs()
	for b.Loop() {
		must(tr.trainStep())
	}
}

func BenchmarkTrainerStepFiltered(b *testing.B) {
	tr := stillTrainer(b, true)
	b.ReportAllocs()
	for b.Loop() {
		must(tr.trainStep())
	}
}

func TestLearnedParametersHaveDifferentNames(t *testing.T) {
	b := newBed(t, "", nil)
	b.cfg.Terms[2].Params[0].Name = "head.0.weight"
	if _, err := New(b.cfg); err == nil ||
		err.Error() != `train: two parameters are named "head.0.weight", expected different names` {
		t.Error(err)
	}
}
