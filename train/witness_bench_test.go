package train_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
	"winnow/train"
	"winnow/train/samples"
)

// BenchmarkRecord measures what a record of the samples adds to a training step, with memory contrastive loss,
// a bank of 8,192, and a filter, or without a filter and with one that only watches. Two equal runs, one with a
// record, alternate step by step, so that other work on the machine affects both. The result is the median over
// pairs of consecutive steps, from the step at which the bank is full.
func BenchmarkRecord(b *testing.B) {
	for _, name := range []string{"vmf", "avgsim", "watch vmf", "watch avgsim"} {
		b.Run(name, func(b *testing.B) {
			var ratios, plain []time.Duration
			for b.Loop() {
				turns := [2]turn{newTurn(b, name, false), newTurn(b, name, true)}
				errs := make(chan error, 2)
				for i := range turns {
					go func() { errs <- turns[i].run(turns[1-i].mine) }()
				}
				turns[0].mine <- struct{}{}
				for range turns {
					if err := <-errs; err != nil {
						b.Fatal(err)
					}
				}
				for i := recordSteps / 2; i < recordSteps; i++ {
					a, c := turns[0].took[i], turns[1].took[i]
					ratios = append(ratios, time.Duration(float64(time.Second)*c.Seconds()/a.Seconds()))
					plain = append(plain, a)
				}
			}
			b.ReportMetric(100*(median(ratios)-1), "added-%")
			b.ReportMetric(1e3*median(plain), "step-ms")
		})
	}
}

const recordSteps = 2 * claimBank / claimBatch

// turn is a run that waits for its turn before every step.
type turn struct {
	cfg  train.Config
	mine chan struct{}
	took []time.Duration
}

// run trains and signals other after every step.
func (t *turn) run(other chan<- struct{}) error {
	<-t.mine
	start := time.Now()
	t.cfg.Observe = train.Together(t.cfg.Observe, train.On(func(s train.Step) {
		t.took = append(t.took, time.Since(start))
		other <- struct{}{}
		if s.Number < recordSteps {
			<-t.mine
		}
		start = time.Now()
	}))
	tr, err := train.New(t.cfg)
	if err != nil {
		return err
	}
	_, err = tr.Run(context.Background())
	return err
}

func newTurn(b *testing.B, name string, record bool) turn {
	b.Helper()
	c := newClaim(b)
	scorer, watch := strings.CutPrefix(name, "watch ")
	cfg := filters.Default()
	cfg.Scorer, cfg.Rate, cfg.AvgSimSteps = scorer, 0, 0 // dropped rows would make the loss cheaper
	filter := or(filters.New(cfg, filters.Env{Dim: claimOut, Classes: claimClasses}))(b)
	sampler := or(train.NewSampler(train.Shuffle{Rows: claimBatch}, c.set.Labels, 1))(b)
	schedule := or(train.NewSchedule(train.ScheduleConfig{}, 1e-6, recordSteps, sampler.Batches()))(b)
	tc := train.Config{
		Encoder: c.encoder, Sampler: sampler, Steps: recordSteps,
		Bank: features.NewBank(claimBank, claimOut, claimClasses),
		Groups: []train.Group{{Name: train.HeadGroup, Params: c.encoder.Params(), Solver: c.solver,
			Schedule: schedule}},
	}
	for _, against := range []string{"batch", "bank"} {
		loss := or(losses.New("contrastive", nil, losses.Env{Dim: claimOut, Classes: claimClasses}))(b)
		tc.Terms = append(tc.Terms, train.Term{Name: against, Loss: loss, Weight: 1, Bank: against == "bank"})
	}
	if !watch {
		tc.Filter = filter
	}
	if record {
		tc.Samples = or(samples.New(samples.Config{IDs: c.set.IDs, Labels: c.set.Labels, From: 1}))(b)
		if watch {
			tc.Watch = filter
		}
	}
	return turn{cfg: tc, mine: make(chan struct{}, 1)}
}

// or returns a value, or ends the benchmark.
func or[T any](v T, err error) func(*testing.B) T {
	return func(b *testing.B) T {
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}
