package train

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
)

// Batches end with the requested unlabelled rows, and each such row is used once before any is repeated. The labelled
// rows are the same as without unlabelled rows.
func TestSamplerAddsUnlabelledRows(t *testing.T) {
	labels := []int{0, -1, 0, 1, 1, -1, 0, 1, -1, 2, 2, -1, 2, -1}
	for variant, how := range map[string][2]Sampling{
		"groups":  {Groups{Classes: 2, Images: 2}, Groups{Classes: 2, Images: 2, Unlabelled: 3}},
		"uniform": {Uniform{Classes: 2, Images: 2}, Uniform{Classes: 2, Images: 2, Unlabelled: 3}},
		"shuffle": {Shuffle{Rows: 4}, Shuffle{Rows: 4, Unlabelled: 3}},
	} {
		plain := must(NewSampler(how[0], labels, 5))
		s := must(NewSampler(how[1], labels, 5))
		if s.Labelled() != plain.Size() || s.Size() != plain.Size()+3 || s.Batches() != plain.Batches() {
			t.Errorf("%s: %d rows, %d of them labelled, %d batches", variant, s.Size(), s.Labelled(), s.Batches())
		}
		for e := range 3 {
			var free []int
			for b, batch := range s.Epoch(e) {
				if !slices.Equal(batch[:s.Labelled()], plain.Epoch(e)[b]) {
					t.Errorf("%s: epoch %d: the labelled rows differ", variant, e)
				}
				free = append(free, batch[s.Labelled():]...)
			}
			for len(free) > 0 {
				round := free[:min(5, len(free))]
				for i, row := range round {
					if labels[row] >= 0 || slices.Contains(round[:i], row) {
						t.Errorf("%s: epoch %d: rows without a label %v", variant, e, round)
					}
				}
				free = free[len(round):]
			}
		}
	}
	if _, err := NewSampler(Groups{Classes: 2, Images: 2, Unlabelled: 1}, []int{0, 0, 1, 1}, 1); err == nil {
		t.Error("NewSampler accepted unlabelled rows for a set without any")
	}
	if s := must(NewSampler(Groups{Classes: 2, Images: 2, Unlabelled: 9}, labels, 1)); s.Size() != 9 {
		t.Errorf("%d rows, expected 4 labelled rows and all 5 unlabelled rows", s.Size())
	}
}

// spy is a loss that records the rows that it receives. Its gradient for each row is the row's ID.
type spy struct{ labels, ids []int }

func (l *spy) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	l.labels, l.ids = slices.Clone(z.Labels), slices.Clone(z.IDs)
	for i := range grad.Rows {
		for k := range grad.Cols {
			features.Row(*grad, i)[k] = float32(z.IDs[i])
		}
	}
	return 1
}

// echo is an encoder that returns rows unchanged and records the gradient it receives.
type echo struct {
	set  features.Set
	w    *features.Param
	rows []int
	back blas32.General
}

func (e *echo) Params() []*features.Param { return []*features.Param{e.w} }
func (e *echo) Forward(rows []int) (features.Set, error) {
	e.rows = slices.Clone(rows)
	return e.set.Rows(rows), nil
}
func (e *echo) Backward(dz blas32.General) error {
	e.back = blas32.General{Rows: dz.Rows, Cols: dz.Cols, Stride: dz.Stride, Data: slices.Clone(dz.Data)}
	e.w.Grad[0] = 1
	return nil
}

// Terms with Unlabelled receive the unlabelled rows after the rows that the filter kept. The filter, the other
// terms, the bank and the observers never receive them. Each gradient is assigned to its own row.
func TestUnlabelledRowsInAStep(t *testing.T) {
	set, _ := clusters(3, 6, 12, 8, 0.3)
	if err := features.Normalize(set.X); err != nil {
		t.Fatal(err)
	}
	for i := range set.Labels {
		set.IDs[i] = 100 + i
		if i%4 == 3 {
			set.Labels[i] = features.Unlabelled
		}
	}
	takes, leaves := &spy{}, &spy{}
	e := &echo{set: set, w: features.NewParam("w", 1, 1)}
	sampler := must(NewSampler(Groups{Classes: 4, Images: 3, Unlabelled: 5}, set.Labels, 1))
	fc := filters.Default()
	fc.Rate, fc.AvgSimSteps = 0.4, 1
	dropped := 0
	cfg := Config{
		Encoder: e, Sampler: sampler, Steps: 12, Bank: features.NewBank(200, 8, 6),
		Terms: []Term{{Name: "takes", Loss: takes, Weight: 1, Unlabelled: true},
			{Name: "leaves", Loss: leaves, Weight: 2}},
		Filter: must(filters.New(fc, filters.Env{Dim: 8, Classes: 6})),
		Groups: oneGroup(e, DefaultSolver("sgd"),
			must(NewSchedule(ScheduleConfig{Name: "constant"}, 1e-3, 12, sampler.Batches()))),
	}
	bank := 0
	cfg.Observe = Together(cfg.Observe, On(func(s Step) {
		kept := len(s.Kept)
		dropped += 12 - kept
		bank += kept
		if len(s.IDs) != 12 || len(s.Scores) != 12 || s.Bank != min(bank, 200) {
			t.Fatalf("step %d: %d rows, %d scores, a bank of %d after %d", s.Number, len(s.IDs), len(s.Scores),
				s.Bank, bank)
		}
		if len(leaves.ids) != kept || len(takes.ids) != kept+5 || !slices.Equal(takes.ids[:kept], leaves.ids) {
			t.Fatalf("step %d: %d kept, shown %v and %v", s.Number, kept, takes.ids, leaves.ids)
		}
		for i, label := range takes.labels {
			if (label < 0) != (i >= kept) {
				t.Fatalf("step %d: labels %v of %d kept", s.Number, takes.labels, kept)
			}
		}
		for i, row := range e.rows {
			want := float32(0)
			if i >= 12 {
				want = float32(set.IDs[row])
			} else if slices.Contains(s.Kept, i) {
				want = 3 * float32(set.IDs[row])
			}
			if got := features.Row(e.back, i)[0]; got != want {
				t.Fatalf("step %d, row %d: gradient %v, expected %v", s.Number, i, got, want)
			}
		}
	}))
	if _, err := must(New(cfg)).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if dropped == 0 {
		t.Error("the filter dropped no row, so that the test shows too little")
	}
}

var _ losses.Loss = (*spy)(nil)
