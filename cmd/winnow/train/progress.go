package train

import (
	"fmt"
	"io"
	"time"

	"winnow/cmd/winnow/progress"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// Progress shows a training's progress: running means on an overwritten line, validation results on lines that stay.
type Progress struct {
	*progress.Line
	plan       run.Plan
	loss, kept float64 // running means; loss is per pair
	perPair    bool    // the loss sums over pairs, so it rises while the memory bank fills
	started    bool
}

// NewProgress returns a progress line on w; now is the clock.
func NewProgress(w io.Writer, now func() time.Time) *Progress {
	return &Progress{Line: progress.New(w, "steps", now)}
}

// Begun sets the plan and restarts the clock.
func (p *Progress) Begun(plan run.Plan) {
	p.plan = plan
	p.Restart()
}

// memory is the decay of the running means.
const memory = 0.95

// Stepped shows a training step.
func (p *Progress) Stepped(s train.Step) {
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

// Validated prints a validation result.
func (p *Progress) Validated(v train.Validation) {
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

// Weighed prints a round of sample weights.
func (p *Progress) Weighed(w train.Weighing) {
	p.Print("%s\n", describeRound(w, p.plan.Labelled))
}

// describeRound describes a round of sample weights in one line.
func describeRound(w train.Weighing, samples int) string {
	end := "after"
	if !w.Converged {
		end = "not converged after"
	}
	return fmt.Sprintf("epoch %d (step %d): weights, round %d: λ %.4g, mean weight of a class (MAW) %.3f ± %.3f "+
		"(SDAW); of %d samples %d excluded, %d at 1; objective %.5g → %.5g %s %d visits",
		w.Epoch, w.Step, w.Number, w.Lambda, w.Mean, w.Deviation, samples, w.Excluded, w.Full, w.Before, w.Objective,
		end, w.Visits)
}
