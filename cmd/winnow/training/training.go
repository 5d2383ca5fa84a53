// Package training shows the progress of a training.
package training

import (
	"fmt"
	"io"
	"time"

	"winnow/cmd/winnow/progress"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// Training shows the progress of a training: running means on a line that is overwritten, validations on lines
// that stay.
type Training struct {
	*progress.Line
	plan       run.Plan
	loss, kept float64 // running means, because a single step says little; loss is per pair
	perPair    bool    // the loss sums over pairs: it rises while the memory bank fills
	started    bool
}

// New begins a line on w; now is the clock.
func New(w io.Writer, now func() time.Time) *Training {
	return &Training{Line: progress.New(w, "steps", now)}
}

// Begun receives the plan.
func (p *Training) Begun(plan run.Plan) {
	p.plan = plan
	p.Restart()
}

// memory is the weight of the past in the running means.
const memory = 0.95

// Stepped shows a step.
func (p *Training) Stepped(s train.Step) {
	if !p.started {
		p.loss, p.kept, p.started = s.PairLoss, s.KeptShare(), true
	}
	p.loss = memory*p.loss + (1-memory)*s.PairLoss
	p.perPair = p.perPair || s.PairLoss != s.Loss
	p.kept = memory*p.kept + (1-memory)*s.KeptShare()
	loss := "loss"
	if p.perPair {
		loss = "loss per pair"
	}
	more := fmt.Sprintf("  epoch %d  %s %.4f  kept %.0f %%", s.Epoch, loss, p.loss, 100*p.kept)
	p.At(s.Number, p.plan.Steps, p.plan.Resumed, more)
}

// Validated shows a validation.
func (p *Training) Validated(v train.Validation) {
	best := ""
	if v.Best {
		best = "  best so far"
	}
	measure, more := "P@1", ""
	if u := p.plan.Untrained; u != nil {
		more += fmt.Sprintf(" (frozen %.4f, whitened %.4f)", u.Frozen, u.Whitened)
	}
	if p.plan.Config.Validation.Measure == config.MeasureClassMean {
		measure = "accuracy by nearest class mean"
	}
	if v.Step == 0 {
		p.Print("untrained head: validation %s %.4f%s\n", measure, v.Score, more)
		return
	}
	p.Print("epoch %d (step %d): validation %s %.4f%s%s\n", v.Epoch, v.Step, measure, v.Score, more, best)
}

// Weighed shows a round of weights.
func (p *Training) Weighed(w train.Weighing) {
	p.Print("%s\n", describeRound(w, p.plan.Labelled))
}

// describeRound describes a round of weights.
func describeRound(w train.Weighing, samples int) string {
	return fmt.Sprintf("epoch %d (step %d): weights, round %d: λ %.4g, mean weight of a class %.3f ± %.3f; "+
		"of %d samples %d at 0, %d at 1; objective %.5g → %.5g",
		w.Epoch, w.Step, w.Number, w.Lambda, w.Mean, w.Deviation, samples, w.Excluded, w.Full, w.Before, w.Objective)
}
