package run

import (
	"context"
	"fmt"
	"path/filepath"

	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/run/folder"
)

// judgeResult returns the contents of a run's result.json. With a validation split, the verdict states whether training
// beat the features as they were.
func (r *Training) judgeResult(ctx context.Context, o Outcome) (folder.Result, error) {
	dir, data, share := r.options.Dir, r.Data, r.backbone.Share()
	f := folder.Result{
		Run: dir, Head: filepath.Join(dir, folder.BestHeadFile), FineTuned: share, Seed: o.Config.Seed, Steps: o.Step,
		Epochs: o.Epochs, BestStep: o.BestStep, Stopped: o.Stopped,
		Patience: o.Config.Validation.Patience, Idle: o.Idle, Reading: r.Reading,
		Verdict: "whether training improved retrieval was not measured: there is no validation or test split, and no " +
			"images are held out",
	}
	if r.Tests > 0 {
		f.Verdict = "there is no validation split: only the test images show whether training improved retrieval"
	}
	if share != nil {
		f.Backbone = filepath.Join(dir, folder.BestBackboneFile)
	}
	if data.Validation.Len() == 0 {
		return f, nil
	}
	c, err := r.Compare(ctx, o.Head, data.Validation, eval.RetrievalOptions{MaxMem: folder.MaxMem})
	if err != nil {
		return f, err
	}
	c.FineTuned, c.Known = share != nil, map[bool]string{false: folder.ChoseState}[r.blind]
	worse, verdict := c.Better() == "no", c.Verdict()
	if o.BestStep == 0 { // no validation was better than the first, before training
		worse = true
		verdict = fmt.Sprintf("training was NOT better than the head it started from, at any validation: the "+
			"untrained head is kept (P@1 %.4f, frozen %.4f, whitened %.4f)",
			c.Trained.PrecisionAt1, c.Frozen.PrecisionAt1, c.Whitened.PrecisionAt1)
	}
	f.Validation, f.Verdict = &c, verdict
	if worse { // not worse is no proof: the same images chose the checkpoint
		f.Better = new(false)
	}
	return f, nil
}

// Compare measures retrieval among images, given their stored features, in the embedding of a head of this training and
// in embeddings without training.
func (r *Training) Compare(ctx context.Context, h *head.Head, stored features.Set, opts eval.RetrievalOptions) (
	c folder.Comparison, err error) {
	now, err := r.Now(ctx, stored)
	if err != nil {
		return c, err
	}
	white, err := r.Data.trainWhitening(ctx, h.Config().Out, h.Config().Bias)
	if err != nil {
		return c, err
	}
	return folder.Compare(ctx, h, white, stored, now, opts)
}
