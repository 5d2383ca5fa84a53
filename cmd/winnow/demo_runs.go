package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/eval"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/auditing"
	"winnow/run/comparison"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// demoBackbone is the network that is part of the program.
const demoBackbone = "glyphnet"

// demoRun is one training of the demo. Runs of one kind differ in labels and filter only.
type demoRun struct {
	dir      string // in the demo's folder
	name     string
	tone     int  // colour of its curves
	tuned    bool // the backbone is trained too
	clean    bool // on the true labels
	filtered bool
	pick     func(*demoTrio) *eval.Retrieval
}

var demoRuns = []demoRun{
	{"topline", "topline", 3, true, true, false, topline},
	{"unfiltered", "unfiltered", 2, true, false, false, unfiltered},
	{"prism", "prism", 1, true, false, true, filtered},
	{"heads/topline", "topline", 3, false, true, false, topline},
	{"heads/unfiltered", "unfiltered", 2, false, false, false, unfiltered},
	{"heads/prism", "prism", 1, false, false, true, filtered},
}

func topline(t *demoTrio) *eval.Retrieval    { return &t.Topline }
func unfiltered(t *demoTrio) *eval.Retrieval { return &t.Unfiltered }
func filtered(t *demoTrio) *eval.Retrieval   { return &t.PRISM }

// tunedSettings are those of the fine-tuned trainings. docs/log/2026-11.md says how they were chosen.
var tunedSettings = []string{
	"length=4.8 epochs", "bank.size=4096", "solver.lr=1e-3", "backbone_solver.lr=7e-4", "finetune.weights=all", "finetune.start=1.5 epochs",
	"filter.warm_up=0.4 epochs", "filter.avgsim=0", "validation.every=1 epoch", "checkpoint=0",
}

// headSettings are those of the trainings of a head alone.
var headSettings = []string{"length=10 epochs", "checkpoint=0"}

// config is the setting of one training.
func (d *demo) config(which demoRun) (config.Run, error) {
	// Nothing here asks what the runs saw of their samples.
	settings := append([]string{fmt.Sprintf("filter.rate=%g", d.rate), "scores.record=false"}, headSettings...)
	if which.tuned {
		settings = append(settings[:2], tunedSettings...)
	}
	for _, setting := range d.c.StringSlice("set") {
		key, _, _ := strings.Cut(setting, "=")
		if key == "seed" || strings.HasPrefix(key, "data.") {
			return config.Run{}, misused("demo: --set %s: the demo decides this itself, by --seed and --out", key)
		}
		if which.tuned || !strings.HasPrefix(key, "finetune.") {
			settings = append(settings, setting)
		}
	}
	cfg, err := config.Load("", settings)
	if err != nil {
		return cfg, asMisuse(err)
	}
	if which.tuned && !cfg.Finetune.On() {
		return cfg, misused("demo: --set finetune.weights=%s: the demo trains the backbone: expected all, a stage or a pattern", config.NoWeights)
	}
	manifest := noisyManifest
	if which.clean {
		manifest = trueManifest
	}
	cfg.Seed = d.seed
	cfg.Data = config.Data{Manifest: filepath.Join(d.dir, manifest), Features: filepath.Join(d.dir, demoFeatures)}
	if which.tuned {
		cfg.Data.Root, cfg.Data.Model = filepath.Join(d.dir, demoImages), demoBackbone
	}
	if !which.filtered {
		cfg.Filter.Scorer = config.NoFilter
	}
	if err := cfg.Validate(); err != nil {
		return cfg, asMisuse(err)
	}
	return cfg, nil
}

// run does one training and measures it; after the filtered one of the whole network it audits the labels.
func (d *demo) run(which demoRun) (err error) {
	labels := d.noisy
	if which.clean {
		labels = d.clean
	}
	at := &trainCommandRun{c: d.c, dir: filepath.Join(d.dir, filepath.FromSlash(which.dir)), features: d.store.Dir, runtime: d.rt.Version(), start: time.Now()}
	if at.cfg, err = d.config(which); err != nil {
		return err
	}
	if at.data, err = run.Join(labels, d.store); err != nil {
		return err
	}
	if which.tuned {
		if at.tuning, err = openTuning(d.c, at.cfg, labels); err != nil {
			return err
		}
		at.tuning.Use(d.rt)
		defer at.tuning.Close()
	}
	curves := demoCurves{name: which.name, tone: which.tone, trace: eval.NewFilterTrace(labels, nil, 0)}
	out, err := d.watched(at, &curves)
	if err != nil {
		return explainTrainFailure(err, at.data, at.dir, which.tuned)
	}
	last, err := lastState(at)
	if err != nil {
		return err
	}
	found, err := last.embed(d.c.Context, d.test)
	if err != nil {
		return err
	}
	measured, err := eval.Retrieve(d.c.Context, found, nil, eval.RetrievalOptions{})
	if err != nil {
		return err
	}
	if !which.tuned {
		*which.pick(&d.result.HeadOnly) = measured
		return nil
	}
	*which.pick(&d.result.demoTrio) = measured
	d.curves = append(d.curves, curves)
	if err := d.compare(which, at, out); err != nil {
		return err
	}
	if which.filtered {
		d.found = found
		return d.audit(last, out)
	}
	return nil
}

// watched does the training, into a folder emptied of an earlier demo's, and leaves there what winnow train leaves.
func (d *demo) watched(at *trainCommandRun, curves *demoCurves) (run.Outcome, error) {
	progress := term.NewTrainProgress(d.c.App.ErrWriter, time.Now)
	defer progress.End()
	opts := run.Options{Dir: at.dir, Winnow: version(), Tuning: at.tuning}
	opts.Begun = func(plan run.Plan) error {
		progress.Begun(plan)
		curves.epoch = max(plan.Epoch, 1)
		if err := folder.Prepare(at.dir, false, true); err != nil {
			return err
		}
		if err := folder.Clear(at.dir); err != nil {
			return err
		}
		return at.begin(plan)
	}
	opts.Stepped = func(s train.Step) {
		if !d.c.Bool("quiet") {
			progress.Stepped(s)
		}
		curves.stepped(s)
	}
	opts.Validated = func(v train.Validation) { curves.score.add(curves.epochs(v.Step), v.Score) }
	out, err := run.Run(d.c.Context, at.cfg, at.data, opts)
	if err != nil {
		return out, err
	}
	result, err := out.Judge(d.c.Context, at.data, opts)
	if err != nil {
		return out, err
	}
	result.Seconds = time.Since(at.start).Seconds()
	return out, folder.Finish(at.dir, result)
}

// compare measures what validation chose, beside the features that nobody trained.
func (d *demo) compare(which demoRun, at *trainCommandRun, out run.Outcome) error {
	if out.BestStep == 0 {
		d.idle = append(d.idle, which.name)
	}
	now, err := at.tuning.Now(d.c.Context, d.test)
	if err != nil {
		return err
	}
	all, err := comparison.Measure(d.c.Context, out.Head, at.data.Train, comparison.Asked{Query: d.test}, comparison.Asked{Query: now}, eval.RetrievalOptions{})
	if err != nil {
		return err
	}
	*which.pick(&d.result.Chosen), d.result.Frozen, d.result.Whitened = all.Trained, all.Frozen, all.Whitened
	return nil
}

// audit judges the given training labels by the last state of the filtered training.
func (d *demo) audit(last state, out run.Outcome) error {
	start := time.Now()
	set, _, err := lookup.Split(d.noisy, d.store, datasets.Train)
	if err != nil {
		return err
	}
	if set, err = last.features(d.c.Context, set); err != nil {
		return err
	}
	if d.audited, err = auditing.Embedding(d.c.Context, last.head, set, d.noisy, out.Filter, 0); err != nil {
		return err
	}
	d.result.Detection = *d.audited.Detection
	d.result.Seconds["audit"] = time.Since(start).Seconds()
	return nil
}
