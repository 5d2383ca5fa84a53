package selective

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// clusters returns a set in which some features separate the classes and larger features do not depend on the class.
// A fraction of the labels is replaced by any other class. The true labels are returned for the test only.
func clusters(seed uint64, classes, each int, wrong float64) (set features.Set, truth []int) {
	const dim = 24
	rng := train.Rand(seed, "clusters", 0)
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	set = features.NewSet(classes*each, dim)
	truth = make([]int, set.Len())
	for i := range set.Len() {
		c := i % classes
		truth[i], set.Labels[i], set.IDs[i] = c, c, 1000+i
		if rng.Float64() < wrong {
			set.Labels[i] = (c + 1 + rng.IntN(classes-1)) % classes
		}
		row := set.Row(i)
		for j := range row {
			spread := 0.9
			if j < dim/3 {
				spread = 3
			}
			row[j] = centres.Data[c*dim+j] + float32(spread*rng.NormFloat64())
		}
	}
	return set, truth
}

// bed is a run of a method.
type bed struct {
	learner *Learner
	head    *head.Head
	cfg     train.Config
	right   map[int]bool // by ID: whether the given label is correct
	kept    [2]int       // number of rows chosen in the last third of the run, and number of them with correct labels
}

func newBed(t testing.TB, cfg Config, set features.Set, truth []int, classes, epochs int, seed uint64) *bed {
	t.Helper()
	sampler, err := train.NewSampler(train.Shuffle{Rows: 60}, set.Labels, seed)
	if err != nil {
		t.Fatal(err)
	}
	steps := epochs * sampler.Batches()
	cfg.Epoch = sampler.Batches()
	b := &bed{right: map[int]bool{}}
	for i, id := range set.IDs {
		b.right[id] = truth[i] == set.Labels[i]
	}
	if b.head, err = head.New(t.Context(), head.Config{In: set.Dim(), Out: 12, Bias: true, Init: head.Random}, set.X,
		train.Rand(seed, "head", 0)); err != nil {
		t.Fatal(err)
	}
	clock := new(train.Clock)
	if b.learner, err = New(cfg, Input{Head: b.head, Train: set, Classes: classes, Batch: sampler.Size(), Clock: clock,
		Seed: seed}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.learner.Close() })
	b.cfg = train.Config{Encoder: b.learner, Sampler: sampler, Terms: []train.Term{b.learner.Term()}, Steps: steps,
		Clock: clock}
	sgd := train.DefaultSolver("sgd")
	sgd.Momentum, sgd.WeightDecay = 0.9, 1e-4
	lr := 0.1
	if cfg.Method == TCL {
		sgd.WeightDecay, lr = 1e-3, 0.03
	}
	solver, err := train.NewSolver(sgd)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := train.NewSchedule(train.ScheduleConfig{Name: "cosine"}, lr, steps, sampler.Batches())
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Groups = []train.Group{b.learner.Group(solver, schedule)}
	b.cfg.Observe = train.Together(b.cfg.Observe, train.On(func(s train.Step) {
		for _, i := range s.Kept {
			if s.Number > steps*2/3 {
				b.kept[0]++
				if b.right[s.IDs[i]] {
					b.kept[1]++
				}
			}
		}
	}))
	return b
}

func (b *bed) run(t testing.TB) {
	t.Helper()
	tr, err := train.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// clean returns the share of correct labels among the rows chosen in the last third of the run.
func (b *bed) clean() float64 { return float64(b.kept[1]) / float64(b.kept[0]) }

// precision1 returns P@1 of a head's unit rows with respect to labels.
func precision1(t testing.TB, h *head.Head, set features.Set, labels []int) float64 {
	t.Helper()
	z, err := h.Embed(set.X)
	if err != nil {
		t.Fatal(err)
	}
	s := features.NewMatrix(z.Rows, z.Rows)
	blas32.Gemm('N', 'T', 1, z, z, 0, s)
	hits := 0
	for i := range z.Rows {
		row := features.Row(s, i)
		row[i] = float32(math.Inf(-1))
		best := 0
		for j, v := range row {
			if v > row[best] {
				best = j
			}
		}
		if labels[best] == labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(z.Rows)
}
