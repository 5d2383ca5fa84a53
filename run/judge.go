package run

import (
	"context"
	"fmt"
	"path/filepath"

	"winnow/eval"
	"winnow/run/comparison"
	"winnow/run/folder"
)

// Judge is what result.json says of a run that opts kept: with a validation split, whether training was worth it.
func (o Outcome) Judge(ctx context.Context, data Data, opts Options) (folder.Result, error) {
	r := folder.Result{
		Run: opts.Dir, Head: filepath.Join(opts.Dir, folder.BestHeadFile), Seed: o.Config.Seed, Steps: o.Step, Epochs: o.Epochs,
		BestStep: o.BestStep, Stopped: o.Stopped, Idle: o.Idle,
		Verdict: "there is no validation split: whether training was worth it was not measured",
	}
	if o.Config.Correct.On() {
		r.Corrected = &o.Corrections
	}
	if opts.Tuning != nil {
		share := opts.Tuning.Share()
		r.Backbone, r.FineTuned = filepath.Join(opts.Dir, folder.BestBackboneFile), &share
	}
	if data.Validation.Len() == 0 {
		return r, nil
	}
	now, err := opts.Tuning.Now(ctx, data.Validation)
	if err != nil {
		return r, err
	}
	c, err := comparison.Measure(ctx, o.Head, data.Train, comparison.Asked{Query: data.Validation}, comparison.Asked{Query: now}, eval.RetrievalOptions{})
	if err != nil {
		return r, err
	}
	c.FineTuned = opts.Tuning != nil
	better, verdict := c.Better(), c.Verdict()
	if o.BestStep == 0 { // whatever its start scores, training added nothing
		better = false
		verdict = fmt.Sprintf("training was NOT better than the head it started from, at any validation: the untrained head is kept (P@1 %.4f, frozen %.4f, whitened %.4f)",
			c.Trained.PrecisionAt1, c.Frozen.PrecisionAt1, c.Whitened.PrecisionAt1)
	}
	r.Validation, r.Better, r.Verdict = &c, &better, verdict
	return r, nil
}
