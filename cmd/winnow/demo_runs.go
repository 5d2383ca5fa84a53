package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/eval"
	"winnow/internal/lookup"
	"winnow/papers/watch"
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
	_, err = backbone.ParseAugmentation(cfg.Finetune.Augment)
	return cfg, asMisuse(err)
}

// run does one training and measures it; after the filtered one of the whole network it audits the labels.
func (d *demo) run(which demoRun) (err error) {
	labels := d.noisy
	if which.clean {
		labels = d.clean
	}
	cfg, err := d.config(which)
	if err != nil {
		return err
	}
	curves := demoCurves{name: which.name, tone: which.tone, trace: watch.NewFilter(labels, nil, 0)}
	progress := term.NewTrainProgress(d.c.App.ErrWriter, time.Now)
	session, err := run.OpenWith(d.c.Context, cfg, labels, d.options(which, progress, &curves))
	if err != nil {
		return err
	}
	defer session.Close()
	out, _, err := session.Train(d.c.Context)
	progress.End()
	if err != nil {
		return err
	}
	last, err := session.Last()
	if err != nil {
		return err
	}
	found, err := last.Embed(d.c.Context, d.test)
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
	if err := d.compare(which, session, out); err != nil {
		return err
	}
	if which.filtered {
		d.found = found
		return d.audit(last, out)
	}
	return nil
}

// options are those of a training into a folder emptied of an earlier demo's.
func (d *demo) options(which demoRun, progress *term.TrainProgress, curves *demoCurves) run.Options {
	p := program(d.c)
	o := run.Options{Dir: filepath.Join(d.dir, filepath.FromSlash(which.dir)), Winnow: version(), Overwrite: true, Host: p.Host(), Watch: p.Watch}
	o.About = folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	o.Host.Runtime = func() (*ort.Runtime, error) { return d.rt, nil }
	o.Begun = func(plan run.Plan) error {
		progress.Begun(plan)
		curves.epoch = max(plan.Epoch, 1)
		return nil
	}
	o.Stepped = func(s train.Step) {
		if !p.Quiet {
			progress.Stepped(s)
		}
		curves.stepped(s)
	}
	o.Validated = func(v train.Validation) { curves.score.add(curves.epochs(v.Step), v.Score) }
	return o
}

// compare measures what validation chose, beside the features that nobody trained.
func (d *demo) compare(which demoRun, session *run.Session, out run.Outcome) error {
	if out.BestStep == 0 {
		d.idle = append(d.idle, which.name)
	}
	now, err := session.Now(d.c.Context, d.test)
	if err != nil {
		return err
	}
	all, err := comparison.Measure(d.c.Context, out.Head, session.Data.Train, comparison.Asked{Query: d.test}, comparison.Asked{Query: now}, eval.RetrievalOptions{})
	if err != nil {
		return err
	}
	*which.pick(&d.result.Chosen), d.result.Frozen, d.result.Whitened = all.Trained, all.Frozen, all.Whitened
	return nil
}

// audit judges the given training labels by the last state of the filtered training.
func (d *demo) audit(last run.State, out run.Outcome) error {
	start := time.Now()
	set, _, err := lookup.Split(d.noisy, d.store, datasets.Train)
	if err != nil {
		return err
	}
	if set, err = last.Features(d.c.Context, set); err != nil {
		return err
	}
	if d.audited, err = auditing.Embedding(d.c.Context, last.Head, set, d.noisy, out.Filter, 0); err != nil {
		return err
	}
	d.result.Detection = *d.audited.Detection
	d.result.Seconds["audit"] = time.Since(start).Seconds()
	return nil
}
