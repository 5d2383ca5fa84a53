package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/filters"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/selective"
)

// tellData notes which images are trained on and which are not.
func (r *Training) tellData() {
	d, note := r.Data, r.options.Note
	note("%d images of %d classes to train on, %d for validation", d.Train.Len(), len(d.Classes), d.Validation.Len())
	if v := d.Views(); v > 1 {
		note("%d views of each training image: every visit shows one of them, drawn; the head's start and validation "+
			"use the centre", v)
	}
	if d.Unlabelled > 0 {
		note("%d images of the train split have no label: they are used for whitening, and in batches as %s says",
			d.Unlabelled, config.Key("sampler.unlabelled"))
	}
	if d.Unjudged > 0 {
		note("%d images of the validation split have no label and are left out", d.Unjudged)
	}
	if n := len(d.LeftOut); n > 0 {
		note("%d unreadable images are left out (all are in run.json), the first is %s: %s", n, d.LeftOut[0].Path,
			d.LeftOut[0].Reason)
	}
	if d.Validation.Len() == 0 {
		note("no validation split: the last state is kept (%s holds out a tenth of the images to find the best state)",
			config.Key("validation.hold_out=0.1"))
	} else if r.Config.Validation.Measure == config.MeasureP1 && oneClass(d.Validation.Labels) {
		note("warning: the validation split has one class, so every image finds its class and validation chooses " +
			"nothing: give it two classes or more, as winnow data import --split does with a larger share")
	}
}

// oneClass reports whether all labels are of one class.
func oneClass(labels []int) bool {
	return !slices.ContainsFunc(labels, func(y int) bool { return y != labels[0] })
}

// tellPlan notes which settings the data change, and which a person may not have intended.
func (r *Training) tellPlan() {
	cfg, plan, note := r.Config, r.Plan, r.options.Note
	filtered := cfg.Filter.Scorer != config.NoFilter
	if out := r.asked.out; out != cfg.Head.Out {
		note("dimension %d is more than the %d of the features: using %d", out, cfg.Head.In, cfg.Head.Out)
	}
	if n := r.asked.views; n > cfg.Sampler.Views {
		note("%d views of each image are asked for, and images do not vary here: batches show one (%s varies them, "+
			"and so do features of several views)", n, config.Key("finetune.augment"))
	} else if n > 1 {
		note("batches show %d views of each image, which are positives of each other", n)
	}
	if filtered && cfg.Filter.Threshold != filters.ThresholdFixed {
		note("the filter %s drops about %.0f %% of the labels that it judges (%s sets another share)",
			cfg.Filter.Scorer, 100*cfg.Filter.Rate.Share, config.Key("filter.rate"))
	}
	if cfg.IsSelective() {
		note("the method is %s", selective.Title(cfg.Method))
	} else if cfg.Method != config.Metric {
		note("the method is %s", cfg.Method)
	}
	if plan.Rests > 0 {
		note("the backbone rests for the first %d of %d steps, while the head warms up", plan.Rests, plan.Steps)
	}
	if plan.Refits > 0 {
		note("after %d steps the head starts again, whitened by what the network has learned (%s: it does not)",
			plan.Refits, config.Key(`finetune.refit="0 steps"`))
	}
	if plan.Resumed > 0 {
		note("going on after step %d of %d", plan.Resumed, plan.Steps)
	}
}

// explainError adds to an error of a run what a person can do.
func (r *Training) explainError(err error) error {
	lr := config.Key("solver.lr")
	if r.isTuned() {
		lr = config.Key("backbone_solver.lr")
	}
	advice := fmt.Sprintf("a smaller %s or %s may help; %s, if there is one, is the best before", lr,
		config.Key("clip=1"), folder.BestHeadFile)
	if bad, ok := errors.AsType[*train.NonFinite](err); ok {
		names := make([]string, 0, 3)
		for _, id := range bad.IDs[:min(len(bad.IDs), cap(names))] {
			names = append(names, r.Data.Paths[id])
		}
		return hint.With(err, "images: %s; %s", strings.Join(names, ", "), advice)
	}
	if _, ok := errors.AsType[*head.NotFinite](err); ok {
		return hint.With(err, "the weights left the numbers: %s", advice)
	}
	if _, ok := errors.AsType[*train.CheckpointError](err); ok {
		return hint.With(err, "restore a copy of it if there is one, or start again with --overwrite")
	}
	if other, ok := errors.AsType[*train.OtherRunError](err); ok {
		if strings.Contains(other.Why, imagesKey) {
			other.Why = "made with other labels, or another list of images"
		}
		return hint.With(err, "give the settings and the manifest of the run, or start again with --overwrite")
	}
	return err
}
