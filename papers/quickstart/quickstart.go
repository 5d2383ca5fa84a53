// Package quickstart runs winnow's whole path on drawn characters with wrong labels among them: images, features,
// six trainings with the same seed and budget, and an audit of the labels. Its folders are runs like any other.
package quickstart

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
	"winnow/internal/lock"
	"winnow/internal/lookup"
	"winnow/models"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/train"
)

// Backbone is the embedded network.
const Backbone = "glyphnet"

// Options are the drawn data, the noise rate and the settings of the trainings.
type Options struct {
	Dir      string   // to write
	Seed     uint64   // of noise and training
	Rate     float64  // share of the training labels made wrong
	Classes  int      // 0: all
	Images   int      // of each class
	Settings []string // KEY=VALUE of the trainings

	Host     extraction.Host
	About    folder.Facts // of the program, for the runs
	Watch    func(what string) (at func(done, total int), end func())
	Training func(run.Plan) (show train.Observer, end func()) // shows one training
}

// Misuse is the error of an invalid option.
type Misuse struct{ error }

// Unwrap returns the error that says what is wrong.
func (m Misuse) Unwrap() error { return m.error }

// The files and folders of a quickstart, beside the runs. One manifest has the wrong labels, the other the true ones,
// for the topline.
const (
	ImagesFile     = "images.zip"
	FeaturesFolder = "suspects.features" // where winnow audit looks for those of suspects.csv
	ManifestFile   = "manifest.csv"
	trueManifest   = "true.csv"
)

// training is one training of the quickstart. Runs of one kind differ only in labels and filter.
type training struct {
	name     string
	clean    bool // on the true labels
	filtered bool
	pick     func(*Trio) *eval.Retrieval
}

var trainings = []training{
	{"topline", true, false, func(t *Trio) *eval.Retrieval { return &t.Topline }},
	{"unfiltered", false, false, func(t *Trio) *eval.Retrieval { return &t.Unfiltered }},
	{"prism", false, true, func(t *Trio) *eval.Retrieval { return &t.PRISM }},
}

// settings of the fine-tuned trainings, then of those of a head alone. docs/log/2026-11.md says how they were chosen.
var settings = map[bool][]string{
	true: {"length=4.8 epochs", "bank.size=4096", "solver.lr=1e-3", "backbone_solver.lr=7e-4", "finetune.weights=all",
		"finetune.augment=none", "finetune.batch_norm=frozen", "screen=none", "bank.fill=false",
		"finetune.start=1.5 epochs", "finetune.refit=0 steps",
		"filter.warm_up=0.4 epochs", "filter.avgsim=0", "validation.every=1 epoch", "checkpoint=0"},
	false: {"length=10 epochs", "screen=none", "checkpoint=0"},
}

// quickstart is one run; its stages are timed.
type quickstart struct {
	Options
	clean, noisy *datasets.Dataset
	images       fs.FS
	rt           *ort.Runtime
	store        *features.Store // of the backbone before training
	test         features.Set    // features of the test images in store
	result       Result
}

// Run runs the quickstart and writes result.json, report.html and the files of every stage into its folder. An
// invalid option is a [Misuse], found before anything is written.
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Host = o.Host.Complete()
	q := &quickstart{Options: o, result: Result{Seed: o.Seed, NoiseRate: o.Rate, Seconds: map[string]float64{}}}
	if err := q.drawImagesAndLabels(); err != nil {
		return nil, Misuse{err}
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("quickstart: %w", err)
	}
	held, err := lock.Folder(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("quickstart: %w", err)
	}
	defer held.Close()
	if q.rt, err = o.Host.Runtime(); err != nil {
		return nil, err
	}
	defer q.rt.Close()
	start := time.Now()
	if err := q.timeStage("images", func() error { return q.writeImages(ctx) }); err != nil {
		return nil, err
	}
	if err := q.timeStage("extract", func() error { return q.extractFeatures(ctx) }); err != nil {
		return nil, err
	}
	for _, tuned := range []bool{true, false} {
		for _, t := range trainings {
			if err := q.timeStage(dirOf(t, tuned), func() error {
				return q.trainAndMeasure(ctx, t,
					tuned)
			}); err != nil {
				return nil, err
			}
		}
	}
	q.result.judgeCosts()
	q.result.Seconds["total"] = time.Since(start).Seconds()
	return &q.result, q.result.writeFiles(o.Dir)
}

// dirOf returns the folder of a training in the quickstart's.
func dirOf(t training, tuned bool) string {
	if tuned {
		return t.name
	}
	return "heads/" + t.name
}

// drawImagesAndLabels checks all options and draws images and labels.
func (q *quickstart) drawImagesAndLabels() error {
	noise, err := datasets.NewNoise("symmetric", q.Rate)
	if err != nil {
		return err
	}
	drawn := glyphs.Config{Classes: q.Classes, Images: q.Images, Seed: glyphs.DemoSeed}
	if q.clean, q.images, err = glyphs.New(drawn); err != nil {
		return err
	}
	for _, tuned := range []bool{true, false} {
		for _, t := range trainings {
			if _, err := q.newTrainingConfig(t, tuned); err != nil {
				return err
			}
		}
	}
	q.noisy, err = q.clean.Corrupt(datasets.Train, noise, run.NoiseRand(q.Seed))
	return err
}

// timeStage runs a stage and records its time.
func (q *quickstart) timeStage(name string, stage func() error) error {
	q.Host.Note("%s …", name)
	start := time.Now()
	err := stage()
	q.result.Seconds[name] = time.Since(start).Seconds()
	return err
}

// writeImages writes the two manifests and the images, in one zip file without compression: the same files give the
// same bytes.
func (q *quickstart) writeImages(ctx context.Context) error {
	err := atomicfile.Write(filepath.Join(q.Dir, ImagesFile), func(w io.Writer) error {
		archive := zip.NewWriter(interrupt.NewWriter(ctx, w))
		for _, name := range q.clean.Paths() {
			data, err := fs.ReadFile(q.images, name)
			if err != nil {
				return err
			}
			file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				return err
			}
			if _, err := file.Write(data); err != nil {
				return err
			}
		}
		return archive.Close()
	})
	for name, d := range map[string]*datasets.Dataset{ManifestFile: q.noisy, trueManifest: q.clean} {
		if err == nil {
			err = datasets.WriteFile(filepath.Join(q.Dir, name), d, nil)
		}
	}
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	return nil
}

// extractFeatures makes the features of all images again; it takes seconds.
func (q *quickstart) extractFeatures(ctx context.Context) error {
	b, cut, err := extraction.OpenBackbone(Backbone, models.Settings{})
	if err != nil {
		return err
	}
	b.Preprocessing.EXIF = true // as winnow audit embeds images: it takes these features
	written, err := zip.OpenReader(filepath.Join(q.Dir, ImagesFile))
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	defer written.Close()
	e := extraction.Extraction{
		Out: filepath.Join(q.Dir, FeaturesFolder), Overwrite: true, Root: written, Paths: q.clean.Paths(),
		Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch, Strict: true},
	}
	if q.store, err = e.Store(ctx, q.Host); err != nil {
		return err
	}
	q.test, _, err = lookup.Split(ctx, q.clean, q.store, datasets.Test)
	return err
}

// newTrainingConfig returns the configuration of a training.
func (q *quickstart) newTrainingConfig(t training, tuned bool) (config.Run, error) {
	all := append([]string{fmt.Sprintf("filter.rate=%g", q.Rate)}, settings[tuned]...)
	for _, setting := range q.Settings {
		key, _, _ := strings.Cut(setting, "=")
		if key == "seed" || strings.HasPrefix(key, "data.") {
			return config.Run{}, fmt.Errorf("quickstart: setting %s: the quickstart decides this itself, by seed and "+
				"folder", key)
		}
		if tuned || !strings.HasPrefix(key, "finetune.") {
			all = append(all, setting)
		}
	}
	cfg, err := config.Parse("", nil, all)
	if err != nil {
		return cfg, err
	}
	if tuned && !cfg.Finetune.On() {
		return cfg, fmt.Errorf("quickstart: setting finetune.weights=%s: the quickstart trains the backbone: "+
			"expected all, a stage or a pattern", config.NoWeights)
	}
	manifest := ManifestFile
	if t.clean {
		manifest = trueManifest
	}
	cfg.Seed = q.Seed
	cfg.Data = config.Data{Manifest: filepath.Join(q.Dir, manifest), Features: filepath.Join(q.Dir, FeaturesFolder)}
	if tuned {
		cfg.Data.Root, cfg.Data.Model = filepath.Join(q.Dir, ImagesFile), Backbone
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

// trainAndMeasure runs and measures a training, which replaces that of an earlier quickstart. After the filtered one of
// the whole network it audits the labels.
func (q *quickstart) trainAndMeasure(ctx context.Context, t training, tuned bool) error {
	labels := q.noisy
	if t.clean {
		labels = q.clean
	}
	cfg, err := q.newTrainingConfig(t, tuned)
	if err != nil {
		return err
	}
	o := run.Options{Dir: filepath.Join(q.Dir, filepath.FromSlash(dirOf(t, tuned))), Overwrite: true, Host: q.Host,
		Watch: q.Watch, About: q.About}
	o.Host.Runtime = func() (*ort.Runtime, error) { return q.rt, nil }
	on, err := run.Resolve(ctx, cfg, run.Input{Manifest: labels}, o)
	if err != nil {
		return err
	}
	defer on.Close()
	show, end := q.Training(on.Plan)
	out, err := on.Run(ctx, show)
	end()
	if err != nil {
		return err
	}
	last, err := on.Last()
	if err != nil {
		return err
	}
	found, err := last.Embed(ctx, q.test)
	if err != nil {
		return err
	}
	measured, err := eval.Retrieve(ctx, found, nil, eval.RetrievalOptions{})
	if err != nil {
		return err
	}
	if !tuned {
		*t.pick(&q.result.HeadOnly) = measured
		return nil
	}
	*t.pick(&q.result.Trio) = measured
	all, err := on.Compare(ctx, out.Head, q.test, eval.RetrievalOptions{}) // the state that validation chose
	if err != nil {
		return err
	}
	*t.pick(&q.result.Chosen) = all.Trained
	if t.clean { // all trainings start from the same untrained features
		q.result.Frozen, q.result.Whitened = all.Frozen, all.Whitened
	}
	if t.filtered {
		return q.auditLabels(ctx, last, out)
	}
	return nil
}

// auditLabels judges the given training labels by the last state of the filtered training.
func (q *quickstart) auditLabels(ctx context.Context, last run.State, out run.Outcome) error {
	start := time.Now()
	set, _, err := lookup.Split(ctx, q.noisy, q.store, datasets.Train)
	if err != nil {
		return err
	}
	if set, err = last.Features(ctx, set); err != nil {
		return err
	}
	audited, err := inspect.Embedding(ctx, last.Head, set, q.noisy, out.Filter, 0)
	if err != nil {
		return err
	}
	q.result.Detection = *audited.Detection
	q.result.Seconds["audit"] = time.Since(start).Seconds()
	return nil
}
