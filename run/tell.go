package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
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
		use := "are only used for whitening (sampler.unlabelled puts some into every batch, for losses that learn " +
			"from them)"
		if n := r.Config.Sampler.Unlabelled; n > 0 {
			use = fmt.Sprintf("are in the batches, %d in each", min(n, d.Unlabelled))
		}
		note("%d images of the train split have no label and %s", d.Unlabelled, use)
	}
	if d.Unjudged > 0 {
		note("%d images of the validation split have no label and are left out", d.Unjudged)
	}
	if n := len(d.LeftOut); n > 0 {
		note("%d unreadable images are left out (all are in run.json), the first is %s: %s", n, d.LeftOut[0].Path,
			d.LeftOut[0].Reason)
	}
	if d.Validation.Len() == 0 {
		if share := r.Config.Validation.Share(); share > 0 {
			note("no validation split, and %.4g of the images are fewer than %d, too few to choose a state by: the "+
				"last one is kept", share, datasets.LeastHeld)
		} else {
			note("no validation split: the last state is kept (%s holds out a tenth, to find the best state and to "+
				"say what training was worth)", config.Key("validation.hold_out=0.1"))
		}
		if r.Config.Validation.Patience > 0 {
			note("validation.patience is set without a validation split: the run will not stop early")
		}
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
	filtered, tuned := cfg.Filter.Scorer != config.NoFilter, cfg.Finetune.On()
	if out := r.asked.out; out != cfg.Head.Out {
		note("dimension %d is more than the %d of the features: using %d", out, cfg.Head.In, cfg.Head.Out)
	}
	if n := r.asked.views; n > cfg.Sampler.Views {
		note("%d views of each image are asked for, and images do not vary here: batches show one (%s varies them, "+
			"and so do features of several views)", n, config.Key("finetune.augment"))
	} else if n > 1 {
		note("batches show %d views of each image, which are positives of each other", n)
	}
	if cfg.Sampler.Variant != config.Shuffle && cfg.Sampler.Classes > len(r.Data.Classes) {
		note("batches of %d classes: %d are asked for, and there are no more", len(r.Data.Classes), cfg.Sampler.Classes)
	}
	if cfg.Method != config.Metric {
		note("%s", describeMethod(cfg, r.Data.Views()))
	}
	if m := cfg.Schedule.In(plan.Epoch).Milestones; len(m) > 0 && m[0] >= plan.Steps {
		note("the learning rate falls first after %s, which is not within this run of %d steps: schedule.milestones "+
			"sets it", cfg.Schedule.Milestones[0], plan.Steps)
	}
	if rate := 100 * cfg.Filter.Rate.Share; filtered && cfg.Filter.Threshold == filters.ThresholdPaper {
		note("the filter %s is told that %.0f %% of the labels are wrong; with filter.threshold paper vmf drops more "+
			"than that (strm: as many)", cfg.Filter.Scorer, rate)
	} else if filtered && cfg.Filter.Threshold != filters.ThresholdFixed && r.Screening != nil && !r.Screening.Blind {
		note("the filter %s drops about %.0f %% of the other labels while they are learned", cfg.Filter.Scorer, rate)
	} else if filtered && cfg.Filter.Threshold != filters.ThresholdFixed {
		note("the filter %s drops about %.0f %% of the labels (%s sets another share)", cfg.Filter.Scorer, rate,
			config.Key("filter.rate"))
	}
	if tuned && filtered && cfg.Filter.WarmUp == (config.Span{}) && !cfg.Bank.Fill {
		note("the filter judges from the first step on, when the bank knows few classes: if it keeps too little, try "+
			"%s", config.Key(`filter.warm_up="1 epoch"`))
	}
	if cfg.SelfPaced.On() && filtered {
		note("samples are weighed, and the filter also drops some: %s leaves it to the weights",
			config.Key("filter.scorer=none"))
	}
	if tuned && cfg.BackboneSolver.LR.Value == 0 {
		note("%s is 0: the backbone's weights will not change", config.Key("backbone_solver.lr"))
	}
	if plan.Rests > 0 {
		note("the backbone rests for the first %d of %d steps, while the head warms up", plan.Rests, plan.Steps)
	}
	if plan.Refits > 0 {
		note("after %d steps the head starts again, whitened by what the network has learned (%s: it does not)",
			plan.Refits, config.Key(`finetune.refit="0 steps"`))
	}
	patience := plan.Validates && cfg.Validation.Patience > 0
	switch took := text.About(plan.Duration); {
	case plan.Duration > 0 && patience:
		note("at most about %s of training on this machine, in %d steps; it ends when %d validations in a row find "+
			"nothing better", took, plan.Steps-plan.Resumed, cfg.Validation.Patience)
	case plan.Duration > 0:
		note("about %s of training on this machine, in %d steps", took, plan.Steps-plan.Resumed)
	}
	if plan.Resumed > 0 {
		note("going on after step %d of %d", plan.Resumed, plan.Steps)
	}
}

// explainError adds to an error of a run what a person can do.
func (r *Training) explainError(err error) error {
	data, dir, tuned := r.Data, r.options.Dir, r.isTuned()
	lr, clip := config.Key("solver.lr"), config.Key("clip=1")
	advice, best := fmt.Sprintf("a smaller %s or %s may help", lr, clip), folder.BestHeadFile+" is"
	if tuned {
		advice = fmt.Sprintf("a smaller %s or %s, or %s, may help", config.Key("backbone_solver.lr"), lr, clip)
		best = folder.BestHeadFile + " with " + folder.BestBackboneFile + " is"
	}
	if _, missing := os.Stat(filepath.Join(dir, folder.BestHeadFile)); dir != "" && missing == nil {
		advice = best + " the best before; " + advice
	}
	if bad, ok := errors.AsType[*train.NonFinite](err); ok {
		names := make([]string, 0, 3)
		for _, id := range bad.IDs[:min(len(bad.IDs), cap(names))] {
			names = append(names, data.Paths[id])
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
		restore := "give the settings of the run"
		if strings.Contains(other.Why, imagesKey) {
			other.Why, restore = "made with other labels, or another list of images", "restore the manifest of the run"
		}
		return hint.With(err, "%s, or start again with --overwrite", restore)
	}
	return err
}
