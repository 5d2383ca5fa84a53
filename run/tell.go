package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/filters"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// tellData notes what is trained on and what is not.
func (r *Training) tellData() {
	d, note := r.Data, r.options.Note
	note("%d images of %d classes to train on, %d for validation", d.Train.Len(), len(d.Classes), d.Validation.Len())
	if v := d.Views(); v > 1 {
		note("%d views of each training image: every visit shows one of them, drawn; the head's start and "+
			"validation look at the centre", v)
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
		note("%d unreadable images are left out (all are in run.json), the first is %s: "+
			"%s", n, d.LeftOut[0].Path, d.LeftOut[0].Reason)
	}
	if d.Validation.Len() == 0 {
		note("no validation split: the last state is kept (--set validation.hold_out=0.1 holds a tenth out to find " +
			"the best by, and to say what training was worth)")
	} else if r.Config.Validation.Measure == config.MeasureP1 && oneClass(d.Validation.Labels) {
		note("warning: the validation split has one class: whatever is found there is right, so that validation " +
			"chooses nothing; give it two classes or more, as winnow data import --split does with a larger share")
	}
}

// oneClass reports whether all labels are of one class.
func oneClass(labels []int) bool {
	return !slices.ContainsFunc(labels, func(y int) bool { return y != labels[0] })
}

// tellPlan notes what of the configuration the data change, and what a person may not have meant.
func (r *Training) tellPlan() {
	cfg, plan, note := r.asked, r.Plan, r.options.Note
	filtered, tuned := cfg.Filter.Scorer != config.NoFilter, cfg.Finetune.On()
	if plan.Config.Head.Out != cfg.Head.Out {
		note("dimension %d is more than the %d of the features: using "+
			"%d", cfg.Head.Out, plan.Config.Head.In, plan.Config.Head.Out)
	}
	if n := cfg.Sampler.Views; n > plan.Config.Sampler.Views {
		note("%d views of each image are asked for, and images do not vary here: batches show one (--augment, or "+
			"features of several views by winnow extract --views)", n)
	} else if n > 1 {
		note("batches show %d views of each image, which are positives of each other", n)
	}
	if cfg.Sampler.Variant != config.Shuffle && cfg.Sampler.Classes > len(r.Data.Classes) {
		note("batches of %d classes: %d are asked for, and there are no more", len(r.Data.Classes), cfg.Sampler.Classes)
	}
	if b := cfg.Sampler; !b.IsUsual() && b.Variant != config.Uniform {
		note("classes come by size to the power %v: an epoch of %d batches has every image, those of small classes "+
			"more than once", b.Balance, plan.Epoch)
	}
	if cfg.Method != config.Metric {
		note("%s", DescribeMethod(cfg, r.Data.Views()))
	}
	if m := cfg.Schedule.In(plan.Epoch).Milestones; len(m) > 0 && m[0] >= plan.Steps {
		note("the learning rate falls first after %s, which is not within this run of %d steps: schedule.milestones "+
			"sets it", cfg.Schedule.Milestones[0], plan.Steps)
	}
	if rate := 100 * cfg.Filter.Rate.Share; filtered && cfg.Filter.Threshold == filters.ThresholdPaper {
		note("the filter %s is told that %.0f %% of the labels are wrong; with filter.threshold paper vmf drops "+
			"more than it is told (strm: as many)", cfg.Filter.Scorer, rate)
	} else if filtered && cfg.Filter.Threshold != filters.ThresholdFixed && r.Screening != nil && !r.Screening.Blind {
		note("the filter %s drops about %.0f %% of the other labels while they are learned", cfg.Filter.Scorer, rate)
	} else if filtered && cfg.Filter.Threshold != filters.ThresholdFixed {
		note("the filter %s drops about %.0f %% of the labels (--noise-rate sets another "+
			"share)", cfg.Filter.Scorer, rate)
	}
	if tuned && filtered && cfg.Filter.WarmUp == (config.Span{}) && !cfg.Bank.Fill {
		note("the filter judges from the first step on, when the bank knows few classes: where it keeps too little, " +
			"try --set filter.warm_up=\"1 epoch\"")
	}
	if cfg.SelfPaced.On() && filtered {
		note("samples are weighed, and the filter drops some besides: --filter none leaves it to the weights")
	}
	if cfg.Validation.Patience > 0 && !plan.Validates {
		note("validation.patience is set without a validation split: the run will not stop early")
	}
	if tuned && cfg.BackboneSolver.LR.Value == 0 {
		note("--backbone-lr is 0: the backbone's weights will not change")
	}
	if n := cfg.Average.Horizon.In(plan.Epoch); n > 0 && plan.Validates {
		note("the weights are averaged over about %d steps: every validation looks at the average, too, and takes "+
			"twice as long", n)
	} else if n > 0 {
		note("the weights are averaged over about %d steps: the average is what the run leaves", n)
	}
	if plan.Rests > 0 {
		note("the backbone rests for the first %d of %d steps, while the head warms up", plan.Rests, plan.Steps)
	}
	if plan.Refits > 0 {
		note("after %d steps the head begins again, whitened by what the network has learned (--set "+
			"finetune.refit=\"0 steps\": it does not)", plan.Refits)
	}
	patience := plan.Validates && plan.Config.Validation.Patience > 0
	switch took := text.About(plan.Duration); {
	case plan.Duration > 0 && patience:
		note("at most about %s of training on this machine, in %d steps; it ends when %d validations in a row find "+
			"nothing better", took, plan.Steps-plan.Resumed, plan.Config.Validation.Patience)
	case plan.Duration > 0:
		note("about %s of training on this machine, in %d steps", took, plan.Steps-plan.Resumed)
	}
	if plan.Resumed > 0 {
		note("going on after step %d of %d", plan.Resumed, plan.Steps)
	}
}

// explain adds what a person can do about a run that stopped.
func (r *Training) explain(err error) error {
	data, dir, tuned := r.Data, r.options.Dir, r.tuned()
	advice, best := "a smaller --lr or --set clip=1 may help", folder.BestHeadFile+" is"
	if tuned {
		advice, best = "a smaller --backbone-lr or --lr, or --set clip=1, may "+
			"help", folder.BestHeadFile+" with "+folder.BestBackboneFile+" is"
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
		return hint.With(err, "put back a copy of it if there is one, or begin again with --overwrite")
	}
	if _, ok := errors.AsType[*train.OtherRunError](err); ok {
		return hint.With(err, "give the settings of the run, or begin again with --overwrite")
	}
	return err
}
