package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/filters"
	"winnow/papers/recipes"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// trainCommandRun is one call of winnow train after its arguments are understood.
type trainCommandRun struct {
	c        *cli.Context
	dir      string
	cfg      config.Run
	data     run.Data
	tuning   *tuning.Tuning    // nil: the head alone is trained
	features string            // store
	runtime  string            // version of ONNX Runtime
	noise    *folder.NoiseRate // where the rate was to be estimated
	start    time.Time
}

func (r *trainCommandRun) do() error {
	ctx := r.c.Context
	r.tellData()
	var err error
	if r.noise, err = run.ResolveRate(&r.cfg, r.data); err != nil {
		return err
	}
	if r.noise != nil {
		note(r.c, "estimated from the features: about %s of the labels are wrong", r.noise)
	}
	progress := term.NewTrainProgress(r.c.App.ErrWriter, time.Now)
	opts := run.Options{Dir: r.dir, Winnow: version(), Resume: r.c.Bool("resume"), Tuning: r.tuning}
	opts.Begun = func(plan run.Plan) error {
		progress.Begun(plan)
		r.tellPlan(plan)
		return r.begin(plan)
	}
	if !r.c.Bool("quiet") {
		opts.Stepped, opts.Validated, opts.Weighed = progress.Stepped, progress.Validated, progress.Weighed
		progress.Samples = r.data.Train.Len() - r.data.Unlabelled
	}
	out, err := run.Run(ctx, r.cfg, r.data, opts)
	if err != nil {
		progress.End()
		return explainTrainFailure(err, r.data, r.dir, r.tuning != nil)
	}
	result, err := out.Judge(ctx, r.data, opts)
	if err != nil {
		return err
	}
	result.Seconds = time.Since(r.start).Seconds()
	if err := folder.Finish(r.dir, result); err != nil {
		return err
	}
	return r.print(result)
}

// tellData says what is trained on and what is not.
func (r *trainCommandRun) tellData() {
	d := r.data
	note(r.c, "%d images of %d classes to train on, %d for validation", d.Train.Len(), len(d.Classes), d.Validation.Len())
	if v := d.Views(); v > 1 {
		note(r.c, "%d views of each training image: every visit shows one of them, drawn; the head's start and validation look at the centre", v)
	}
	if d.Unlabelled > 0 {
		use := "are only used for whitening (sampler.unlabelled puts some into every batch, for losses that learn from them)"
		if n := r.cfg.Sampler.Unlabelled; n > 0 {
			use = fmt.Sprintf("are in the batches, %d in each", min(n, d.Unlabelled))
		}
		note(r.c, "%d images of the train split have no label and %s", d.Unlabelled, use)
	}
	if d.Unjudged > 0 {
		note(r.c, "%d images of the validation split have no label and are left out", d.Unjudged)
	}
	if n := len(d.LeftOut); n > 0 {
		note(r.c, "%d unreadable images are left out (all are in run.json), the first is %s: %s", n, d.LeftOut[0].Path, d.LeftOut[0].Reason)
	}
	if d.Validation.Len() == 0 {
		note(r.c, "no validation split: the last state is kept, and nothing says when to stop")
	} else if r.cfg.Validation.Measure == config.MeasureP1 && oneClass(d.Validation.Labels) {
		note(r.c, "warning: the validation split has one class: whatever is found there is right, so that validation chooses nothing; give it two classes or more, as winnow data import --split does with a larger share")
	}
}

func (r *trainCommandRun) tellPlan(plan run.Plan) {
	if plan.Config.Head.Out != r.cfg.Head.Out {
		note(r.c, "dimension %d is more than the %d of the features: using %d", r.cfg.Head.Out, plan.Config.Head.In, plan.Config.Head.Out)
	}
	if s := r.cfg.Sampler; s.Variant != train.Shuffle && s.Classes > len(r.data.Classes) {
		note(r.c, "batches of %d classes: %d are asked for, and there are no more", len(r.data.Classes), s.Classes)
	}
	if r.cfg.Method != config.Metric {
		note(r.c, "%s", run.DescribeMethod(r.cfg, r.data.Views()))
	}
	if m := r.cfg.Schedule.In(plan.Epoch).Milestones; len(m) > 0 && m[0] >= plan.Steps {
		note(r.c, "the learning rate falls first after %s, which is not within this run of %d steps: schedule.milestones sets it", r.cfg.Schedule.Milestones[0], plan.Steps)
	}
	if f := r.cfg.Filter; f.Scorer != config.NoFilter && f.Threshold != filters.ThresholdFixed {
		note(r.c, "the filter %s drops about %.0f %% of the labels (set by --noise-rate)", f.Scorer, 100*float64(f.Rate))
	}
	if f := r.cfg.Filter; r.tuning != nil && f.Scorer != config.NoFilter && f.WarmUp == (config.Span{}) {
		note(r.c, "the filter judges from the first step on, when the bank knows few classes: where it keeps too little, try --set filter.warm_up=\"1 epoch\"")
	}
	if s := r.cfg.SelfPaced; s.On() && r.cfg.Filter.Scorer != config.NoFilter {
		note(r.c, "samples are weighed, and the filter drops some besides: --filter none leaves it to the weights")
	}
	if r.cfg.Validation.Patience > 0 && !plan.Validates {
		note(r.c, "validation.patience is set without a validation split: the run will not stop early")
	}
	if r.tuning != nil && r.cfg.BackboneSolver.LR == 0 {
		note(r.c, "--backbone-lr is 0: the backbone's weights will not change")
	}
	if plan.Rests > 0 {
		note(r.c, "the backbone rests for the first %d of %d steps, while the head warms up", plan.Rests, plan.Steps)
	}
	if plan.Resumed > 0 {
		note(r.c, "going on after step %d of %d", plan.Resumed, plan.Steps)
	}
}

// begin throws away what --overwrite says, and writes config.yaml and run.json. A run that goes on keeps
// what it wrote when it began.
func (r *trainCommandRun) begin(plan run.Plan) error {
	if r.c.Bool("overwrite") {
		if err := folder.Clear(r.dir); err != nil {
			return err
		}
	}
	if plan.Resumed > 0 && folder.Begun(r.dir) {
		return nil
	}
	facts, err := run.Facts(r.cfg, r.data, plan, r.tuning)
	if err != nil {
		return err
	}
	facts.Winnow, facts.Go, facts.ORT = version(), runtime.Version(), r.runtime
	facts.Device, facts.Threads, facts.Started = r.c.String("device"), r.c.Int("threads"), r.start.UTC()
	facts.Features, facts.NoiseRate = r.features, r.noise
	if name := r.c.String("recipe"); name != "" {
		recipe, err := recipes.Find(name)
		if err != nil {
			return err
		}
		facts.Recipe, facts.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	return folder.Begin(r.dir, r.cfg, facts)
}

func (r *trainCommandRun) print(result folder.Result) error {
	if r.c.Bool("json") {
		return printJSON(r.c.App.Writer, result)
	}
	w := r.c.App.Writer
	if result.Validation != nil {
		result.Validation.Print(w)
	}
	fmt.Fprintln(w, result.Verdict)
	if result.Stopped {
		fmt.Fprintf(w, "stopped early after step %d, as the last %d validations were no better\n", result.Steps, r.cfg.Validation.Patience)
	}
	if n := result.Corrected; n != nil {
		fmt.Fprintf(w, "%d corrections of labels: %s\n", *n, filepath.Join(r.dir, folder.CorrectionsFile))
	}
	if result.IdleTooOften() {
		fmt.Fprintf(w, "in %d of %d steps no loss had anything to learn from: no pairs in the batch, none that costs anything, or no label that the filter keeps; --batch PxK wants two images of a class and two classes\n", result.Idle, result.Steps)
	}
	files := result.Head
	if result.Backbone != "" {
		files += " on " + result.Backbone
	}
	if result.BestStep >= 0 {
		fmt.Fprintf(w, "%s: the state after step %d of %d\n", files, result.BestStep, result.Steps)
	} else {
		fmt.Fprintf(w, "%s: the state after step %d, the last\n", files, result.Steps)
	}
	return nil
}

// oneClass says whether all labels are of one class.
func oneClass(labels []int) bool {
	return !slices.ContainsFunc(labels, func(y int) bool { return y != labels[0] })
}
