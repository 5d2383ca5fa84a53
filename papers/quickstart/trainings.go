package quickstart

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/eval"
	"winnow/internal/lookup"
	"winnow/papers/watch"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/inspect"
	"winnow/train"
)

// Backbone is the embedded network.
const Backbone = "glyphnet"

// training is one training of the quickstart. Runs of one kind differ only in labels and filter.
type training struct {
	dir      string // in the quickstart's folder
	name     string
	tone     int  // colour of its curves
	tuned    bool // the backbone is trained too
	clean    bool // on the true labels
	filtered bool
	pick     func(*Trio) *eval.Retrieval
}

var trainings = []training{
	{"topline", "topline", 3, true, true, false, topline},
	{"unfiltered", "unfiltered", 2, true, false, false, unfiltered},
	{"prism", "prism", 1, true, false, true, filtered},
	{"heads/topline", "topline", 3, false, true, false, topline},
	{"heads/unfiltered", "unfiltered", 2, false, false, false, unfiltered},
	{"heads/prism", "prism", 1, false, false, true, filtered},
}

func topline(t *Trio) *eval.Retrieval    { return &t.Topline }
func unfiltered(t *Trio) *eval.Retrieval { return &t.Unfiltered }
func filtered(t *Trio) *eval.Retrieval   { return &t.PRISM }

// tunedSettings are the settings of the fine-tuned trainings. docs/log/2026-11.md says how they were chosen.
var tunedSettings = []string{
	"length=4.8 epochs", "bank.size=4096", "solver.lr=1e-3", "backbone_solver.lr=7e-4", "finetune.weights=all",
	"finetune.augment=none", "finetune.batch_norm=frozen", "screen=none", "bank.fill=false",
	"finetune.start=1.5 epochs", "finetune.refit=0 steps",
	"filter.warm_up=0.4 epochs", "filter.avgsim=0", "validation.every=1 epoch", "checkpoint=0",
}

// headSettings are the settings of the trainings of a head alone.
var headSettings = []string{"length=10 epochs", "screen=none", "checkpoint=0"}

// config returns the configuration of a training.
func (o Options) config(t training) (config.Run, error) {
	// The quickstart does not use the runs' record of their samples.
	settings := append([]string{fmt.Sprintf("filter.rate=%g", o.Rate), "scores.record=false"}, headSettings...)
	if t.tuned {
		settings = append(settings[:2], tunedSettings...)
	}
	for _, setting := range o.Settings {
		key, _, _ := strings.Cut(setting, "=")
		if key == "seed" || strings.HasPrefix(key, "data.") {
			return config.Run{}, fmt.Errorf("quickstart: setting %s: the quickstart decides this itself, by seed and "+
				"folder", key)
		}
		if t.tuned || !strings.HasPrefix(key, "finetune.") {
			settings = append(settings, setting)
		}
	}
	cfg, err := config.Load("", settings)
	if err != nil {
		return cfg, err
	}
	if t.tuned && !cfg.Finetune.On() {
		return cfg, fmt.Errorf("quickstart: setting finetune.weights=%s: the quickstart trains the backbone: "+
			"expected all, a stage or a pattern", config.NoWeights)
	}
	manifest := ManifestFile
	if t.clean {
		manifest = trueManifest
	}
	cfg.Seed = o.Seed
	cfg.Data = config.Data{Manifest: filepath.Join(o.Dir, manifest), Features: filepath.Join(o.Dir, FeaturesFolder)}
	if t.tuned {
		cfg.Data.Root, cfg.Data.Model = filepath.Join(o.Dir, ImagesFile), Backbone
	}
	if !t.filtered {
		cfg.Filter.Scorer = config.NoFilter
	}
	if err := cfg.Validate(); err != nil {
		return cfg, err
	}
	_, err = backbone.ParseAugmentation(cfg.Finetune.Augment)
	return cfg, err
}

// train runs and measures a training. After the filtered one of the whole network it audits the labels.
func (d *quickstart) train(ctx context.Context, t training, cfg config.Run) (err error) {
	labels := d.noisy
	if t.clean {
		labels = d.clean
	}
	seen := curves{name: t.name, tone: t.tone, trace: watch.NewFilter(labels, nil, 0)}
	training, err := run.Resolve(ctx, cfg, run.Input{Manifest: labels}, d.options(t))
	if err != nil {
		return err
	}
	defer training.Close()
	seen.epoch = max(training.Epoch, 1)
	show, end := d.o.Training(training.Plan)
	out, err := training.Run(ctx, show, run.Observer{
		Stepped:   seen.stepped,
		Validated: func(v train.Validation) { seen.score.add(seen.epochs(v.Step), v.Score) },
	})
	end()
	if err != nil {
		return err
	}
	last, err := training.Last()
	if err != nil {
		return err
	}
	found, err := last.Embed(ctx, d.test)
	if err != nil {
		return err
	}
	measured, err := eval.Retrieve(ctx, found, nil, eval.RetrievalOptions{})
	if err != nil {
		return err
	}
	if !t.tuned {
		*t.pick(&d.result.HeadOnly) = measured
		return nil
	}
	*t.pick(&d.result.Trio) = measured
	d.curves = append(d.curves, seen)
	if err := d.compare(ctx, t, training, out, measured); err != nil {
		return err
	}
	if t.filtered {
		d.found = found
		return d.audit(ctx, last, out)
	}
	return nil
}

// options returns the options of a training, which overwrites that of an earlier quickstart.
func (d *quickstart) options(t training) run.Options {
	o := run.Options{Dir: filepath.Join(d.o.Dir, filepath.FromSlash(t.dir)), Overwrite: true, Host: d.o.Host,
		Watch: d.o.Watch, About: d.o.About}
	o.Host.Runtime = func() (*ort.Runtime, error) { return d.rt, nil }
	return o
}

// compare measures the state that validation chose and, once, the untrained features, from which all trainings start.
func (d *quickstart) compare(ctx context.Context, t training, trained *run.Training, out run.Outcome,
	last eval.Retrieval) error {
	if out.BestStep == 0 {
		d.idle = append(d.idle, t.name)
	}
	chosen := t.pick(&d.result.Chosen)
	if d.result.Frozen.N > 0 && out.BestStep == out.Step && !out.OfAverage {
		*chosen = last // it is the same state
		return nil
	}
	if d.result.Frozen.N == 0 {
		all, err := trained.Compare(ctx, out.Head, d.test, eval.RetrievalOptions{})
		*chosen, d.result.Frozen, d.result.Whitened = all.Trained, all.Frozen, all.Whitened
		return err
	}
	now, err := trained.Now(ctx, d.test)
	if err != nil {
		return err
	}
	found, err := out.Head.EmbedSet(ctx, now)
	if err != nil {
		return err
	}
	*chosen, err = eval.Retrieve(ctx, found, nil, eval.RetrievalOptions{})
	return err
}

// audit judges the given training labels by the last state of the filtered training.
func (d *quickstart) audit(ctx context.Context, last run.State, out run.Outcome) error {
	start := time.Now()
	set, _, err := lookup.Split(ctx, d.noisy, d.store, datasets.Train)
	if err != nil {
		return err
	}
	if set, err = last.Features(ctx, set); err != nil {
		return err
	}
	if d.audited, err = inspect.Embedding(ctx, last.Head, set, d.noisy, out.Filter, 0); err != nil {
		return err
	}
	d.result.Detection = *d.audited.Detection
	d.result.Seconds["audit"] = time.Since(start).Seconds()
	return nil
}
