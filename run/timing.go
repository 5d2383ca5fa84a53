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

// Timing holds the measured times of the steps of a training.
type Timing struct {
	Seconds []float64 // duration of each timed step
	Kept    float64   // share of the rows of the timed steps that the filter kept
	Bank    int       // number of entries in the memory bank after the last step
	Outcome Outcome
}

// Each returns the mean duration of a step.
func (t Timing) Each() time.Duration {
	sum := 0.0
	for _, v := range t.Seconds {
		sum += v
	}
	return time.Duration(sum / float64(max(len(t.Seconds), 1)) * float64(time.Second))
}

var errEnough = errors.New("timed")

// Time trains, and times all steps but the first skip steps. It stops after most timed steps, or at the end if most is
// 0. It writes no files.
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

// Pace returns the mean duration of a step, from a few steps. The training cannot be run afterwards.
func (r *Training) Pace(ctx context.Context) (time.Duration, error) {
	timed, err := r.Time(ctx, warmUp, timedSteps)
	if err == nil && len(timed.Seconds) == 0 {
		err = fmt.Errorf("%s, too few to time", text.Plural(r.Steps, "step"))
	}
	return timed.Each(), err
}

// Cost estimates the duration of [Training.Run] on this machine, including validations and the final comparison. It
// makes a few steps. The training cannot be run afterwards.
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
	// Retrieval is measured for the three rows of the comparison and at each validation, also before the first step.
	looks := 3.0 + math.Ceil(steps/float64(max(r.loop.ValidateEvery, 1))) + 1
	return cost + time.Duration(looks*float64(time.Since(start))), nil
}

// Number of steps in an estimate: first warmUp untimed steps, then timedSteps.
const (
	warmUp     = 3
	timedSteps = 12
)
