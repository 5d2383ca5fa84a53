package run

import (
	"context"
	"errors"
	"time"

	"winnow/run/config"
	"winnow/run/tuning"
	"winnow/train"
)

// Timing is how long the steps of a training took.
type Timing struct {
	Steps   int           // of the whole training
	Epoch   int           // steps of an epoch
	Planned time.Duration // what the whole may take, where a backbone is trained; else 0
	Seconds []float64     // of each step that was timed
	Kept    float64       // share of the rows that the filter kept in them
	Bank    int           // members after the last
	Outcome Outcome
}

var errEnough = errors.New("timed")

// Time trains, and times the steps after the first skip; at most most of them, and then it stops. most 0: to the end.
func Time(ctx context.Context, on tuning.Backbone, cfg config.Run, data Data, skip, most int) (t Timing, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var last time.Time
	var rows, kept int
	var o Options
	o.Begun = func(p Plan) error { t.Steps, t.Epoch, t.Planned = p.Steps, p.Epoch, p.Duration; return nil }
	o.Stepped = func(s train.Step) {
		now := time.Now()
		if s.Number > skip {
			t.Seconds = append(t.Seconds, now.Sub(last).Seconds())
			rows, kept = rows+len(s.IDs), kept+len(s.Kept)
		}
		last, t.Bank = now, s.Bank
		if most > 0 && len(t.Seconds) == most {
			stop(errEnough)
		}
	}
	t.Outcome, err = RunOn(ctx, on, cfg, data, o)
	t.Kept = float64(kept) / float64(max(rows, 1))
	if context.Cause(ctx) == errEnough {
		err = nil
	}
	return t, err
}
