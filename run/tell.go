package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/selective"
)

// tellData notes how many images are used for training and validation, and how many are left out.
func (r *Training) tellData() {
	d, note := r.Data, r.options.Note
	note("%d images of %d classes to train on, %d for validation", d.Train.Len(), len(d.Classes), d.Validation.Len())
	if v := d.Views(); v > 1 {
		note("%d views of each training image: each step draws one of them at random; the head's start and validation "+
			"use the centre", v)
	}
	if d.Unlabelled > 0 {
		note("%d images of the train split have no label: whitening uses them; %s sets how many are in a batch",
			d.Unlabelled, config.Key("sampler.unlabelled"))
	}
	if d.Unjudged > 0 {
		note("%d images of the validation split have no label and are left out", d.Unjudged)
	}
	if n := len(d.LeftOut); n > 0 {
		note("%d unreadable images are left out (all are in run.json), the first is %s: %s", n, d.LeftOut[0].Path,
			d.LeftOut[0].Reason)
	}
	if d.Validation.Len()+d.Unjudged+r.Tests == 0 && r.Config.Validation.Share() > 0 {
		note("no validation split, and too few images to hold some out, so the last lines cannot say whether " +
			"training helped: add images (40 or more with labels, five or more of each class), or a split test")
	} else if d.Validation.Len() == 0 {
		note("no validation split, and no images are held out: the last state is kept (%s holds out a tenth of %d or "+
			"more images to choose the best)", config.Key("validation.hold_out=0.1"), 10*datasets.LeastChoosing)
	} else if r.Config.Validation.Measure == config.MeasureP1 && oneClass(d.Validation.Labels) {
		note("warning: the validation split has only one class, so P@1 is always 1 and cannot choose the best state: " +
			"validate on two or more classes, for example with a larger share in winnow data import --split")
	}
}

// oneClass reports whether all labels are equal.
func oneClass(labels []int) bool {
	return !slices.ContainsFunc(labels, func(y int) bool { return y != labels[0] })
}

// tellPlan notes the settings that the data changed and the settings that a user may not expect.
func (r *Training) tellPlan() {
	cfg, plan, note := r.Config, r.Plan, r.options.Note
	filtered := cfg.Filter.Scorer != config.NoFilter
	if out := r.asked.out; out != cfg.Head.Out {
		note("%d dimensions were asked for, but the features have only %d: using %d", out, cfg.Head.In, cfg.Head.Out)
	}
	if n := r.asked.views; n > cfg.Sampler.Views {
		note("%d views of each image were asked for, but each image has only one: batches use that one (set %s, or "+
			"extract features of several views)", n, config.Key("finetune.augment"))
	} else if n > 1 {
		note("each batch has %d views of each image, which are positives of each other", n)
	}
	if filtered && cfg.Filter.Threshold != filters.ThresholdFixed {
		note("the filter %s drops about %.0f %% of the labels that it scores (%s sets another share)",
			cfg.Filter.Scorer, 100*cfg.Filter.Rate.Share, config.Key("filter.rate"))
	}
	if cfg.IsSelective() {
		note("the method is %s", selective.Title(cfg.Method))
	} else if cfg.Method != config.Metric {
		note("the method is %s", cfg.Method)
	}
	if plan.Rests > 0 {
		note("the backbone is frozen for the first %d of %d steps, while the head warms up", plan.Rests, plan.Steps)
	}
	if plan.Refits > 0 {
		note("after %d steps the head starts again, as the whitening of the network's new features (%s disables this)",
			plan.Refits, config.Key(`finetune.refit="0 steps"`))
	}
	if plan.Resumed > 0 {
		note("continuing after step %d of %d", plan.Resumed, plan.Steps)
	}
}

// explainError adds advice for the user to an error of a run.
func (r *Training) explainError(err error) error {
	lr := config.Key("solver.lr")
	if r.isTuned() {
		lr = config.Key("backbone_solver.lr")
	}
	advice := fmt.Sprintf("a smaller %s or %s may help; %s, if it exists, is the best state before the error", lr,
		config.Key("clip=1"), folder.BestHeadFile)
	if bad, ok := errors.AsType[*train.NonFinite](err); ok {
		names := make([]string, 0, 3)
		for _, id := range bad.IDs[:min(len(bad.IDs), cap(names))] {
			names = append(names, r.Data.Paths[id])
		}
		return hint.With(err, "images: %s; %s", strings.Join(names, ", "), advice)
	}
	if _, ok := errors.AsType[*head.NotFinite](err); ok {
		return hint.With(err, "the weights are no longer finite: %s", advice)
	}
	if _, ok := errors.AsType[*train.CheckpointError](err); ok {
		return hint.With(err, "restore the checkpoint from a backup, or start again with --overwrite")
	}
	if other, ok := errors.AsType[*train.OtherRunError](err); ok {
		if strings.Contains(other.Why, imagesKey) {
			other.Why = "made with other labels, or another list of images"
		}
		return hint.With(err, "use the settings and the manifest of that run, or start again with --overwrite")
	}
	return err
}
