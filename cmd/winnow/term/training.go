package term

import (
	"fmt"
	"io"
	"time"

	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// TrainProgress shows how a run goes: the running means on a line that moves, validations on lines that stay.
type TrainProgress struct {
	*Progress
	plan       run.Plan
	loss, kept float64 // running means, as a single step says little
	started    bool
}

func NewTrainProgress(w io.Writer, now func() time.Time) *TrainProgress {
	return &TrainProgress{Progress: NewProgress(w, "steps", now)}
}

func (p *TrainProgress) Begun(plan run.Plan) {
	p.plan, p.start = plan, p.now()
	p.last = p.start
}

// memory is the weight of the past in the running means.
const memory = 0.95

func (p *TrainProgress) Stepped(s train.Step) {
	if !p.started {
		p.loss, p.kept, p.started = s.Loss, s.KeptShare(), true
	}
	p.loss = memory*p.loss + (1-memory)*s.Loss
	p.kept = memory*p.kept + (1-memory)*s.KeptShare()
	p.At(s.Number, p.plan.Steps, p.plan.Resumed, fmt.Sprintf("  epoch %d  loss %.4f  kept %.0f %%", s.Epoch, p.loss, 100*p.kept))
}

func (p *TrainProgress) Validated(v train.Validation) {
	p.End()
	best := ""
	if v.Best {
		best = "  best so far"
	}
	measure := "P@1"
	if p.plan.Config.Validation.Measure == config.MeasureClassMean {
		measure = "accuracy by nearest class mean"
	}
	if v.Step == 0 {
		fmt.Fprintf(p.w, "untrained head: validation %s %.4f\n", measure, v.Score)
		return
	}
	fmt.Fprintf(p.w, "epoch %d (step %d): validation %s %.4f%s\n", v.Epoch, v.Step, measure, v.Score, best)
}

func (p *TrainProgress) Weighed(w train.Weighing) {
	p.End()
	fmt.Fprintln(p.w, DescribeRound(w, p.plan.Labelled))
}

// DescribeRound is a round of weights for people.
func DescribeRound(w train.Weighing, samples int) string {
	return fmt.Sprintf("epoch %d (step %d): weights, round %d: λ %.4g, mean weight of a class %.3f ± %.3f; of %d samples %d at 0, %d at 1; objective %.5g → %.5g",
		w.Epoch, w.Step, w.Number, w.Lambda, w.Mean, w.Deviation, samples, w.Excluded, w.Full, w.Before, w.Objective)
}
