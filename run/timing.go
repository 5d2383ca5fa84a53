package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"winnow/eval"
	"winnow/internal/text"
	"winnow/train"
)

// Timing says how long the steps of a training took.
type Timing struct {
	Seconds []float64 // of each step that was timed
	Kept    float64   // share of the rows that the filter kept in them
	Bank    int       // members after the last
	Outcome Outcome
}

// Each returns the mean time of a step.
func (t Timing) Each() time.Duration {
	sum := 0.0
	for _, v := range t.Seconds {
		sum += v
	}
	return time.Duration(sum / float64(max(len(t.Seconds), 1)) * float64(time.Second))
}

var errEnough = errors.New("timed")

// Time trains, and times the steps after the first skip. It stops after most timed steps, or at the end if most is 0.
// It writes nothing into the folder.
func (r *Training) Time(ctx context.Context, skip, most int) (t Timing, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var last time.Time
	var rows, kept int
	r.kept, r.options.Dir, r.trainer.Dir, r.trainer.SaveHead = false, "", "", nil
	r.trainer.DiagnoseEvery = 0
	t.Outcome, err = r.Run(ctx, train.On(func(s train.Step) {
		now := time.Now()
		if s.Number > r.Resumed+skip {
			t.Seconds = append(t.Seconds, now.Sub(last).Seconds())
			rows, kept = rows+len(s.IDs), kept+len(s.Kept)
		}
		last, t.Bank = now, s.Bank
		if most > 0 && len(t.Seconds) == most {
			stop(errEnough)
		}
	}))
	t.Kept = float64(kept) / float64(max(rows, 1))
	if context.Cause(ctx) == errEnough {
		err = nil
	}
	return t, err
}

// Pace returns the time of a step, the mean of some steps of the training, which cannot be run any more.
func (r *Training) Pace(ctx context.Context) (time.Duration, error) {
	timed, err := r.Time(ctx, warmUp, timedSteps)
	if err == nil && len(timed.Seconds) == 0 {
		err = fmt.Errorf("%s, too few to time", text.Plural(r.Steps, "step"))
	}
	return timed.Each(), err
}

// Cost estimates how long [Training.Run] takes on this machine, with its validations and its measurement. It makes some
// steps, and the training cannot be run any more.
func (r *Training) Cost(ctx context.Context) (time.Duration, error) {
	timed, err := r.Time(ctx, warmUp, timedSteps)
	if err != nil {
		return 0, err
	}
	steps := float64(r.Steps - r.Resumed)
	cost := time.Duration(steps * float64(timed.Each()))
	if !r.Validates {
		return cost, nil
	}
	start := time.Now()
	z, err := r.embedNow(ctx, r.Data.Validation)
	if err != nil {
		return 0, err
	}
	if _, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}}); err != nil {
		return 0, err
	}
	looks := 3.0 + math.Ceil(steps/float64(max(r.loop.ValidateEvery, 1))) + 1 // the three rows of the comparison
	return cost + time.Duration(looks*float64(time.Since(start))), nil
}

// Steps that an estimate makes: the first ones warm up, the others are timed.
const (
	warmUp     = 3
	timedSteps = 12
)
