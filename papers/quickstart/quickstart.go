// Package quickstart runs winnow's whole path on drawn characters with wrong labels among them: images, features,
// six trainings with the same seed and budget, an audit of the labels, and a page about it. Its folders are runs like
// any other.
package quickstart

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/features"
	"winnow/internal/lock"
	"winnow/internal/lookup"
	"winnow/models"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/inspect"
)

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
	Training func(run.Plan) (show run.Observer, end func()) // shows one training
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

// quickstart is one run; its stages are timed.
type quickstart struct {
	o       Options
	configs []config.Run // of the trainings
	clean   *datasets.Dataset
	noisy   *datasets.Dataset
	images  fs.FS
	rt      *ort.Runtime
	store   *features.Store // of the backbone before training
	test    features.Set    // features of the test images in store
	curves  []curves        // of the fine-tuned trainings
	idle    []string        // trainings that never beat the untrained head on validation
	found   features.Set    // the test images, embedded by the filtered training's last state
	audited *inspect.Report
	result  Result
}

// Run runs the quickstart and writes result.json, report.html and the files of every stage into its folder. An
// invalid option is a [Misuse], found before anything is written.
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Host = o.Host.Complete()
	d := &quickstart{o: o, result: Result{Seed: o.Seed, NoiseRate: o.Rate, Seconds: map[string]float64{}, dir: o.Dir}}
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("quickstart: %w", err)
	}
	held, err := lock.Folder(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("quickstart: %w", err)
	}
	defer held.Close()
	if d.rt, err = o.Host.Runtime(); err != nil {
		return nil, err
	}
	defer d.rt.Close()
	start := time.Now()
	if err := d.timed("images", func() error { return d.writeImages(ctx) }); err != nil {
		return nil, err
	}
	if err := d.timed("extract", func() error { return d.extract(ctx) }); err != nil {
		return nil, err
	}
	for i, t := range trainings {
		if err := d.timed(t.dir, func() error { return d.train(ctx, t, d.configs[i]) }); err != nil {
			return nil, err
		}
	}
	d.judge()
	d.result.Seconds["total"] = time.Since(start).Seconds()
	return &d.result, d.write(ctx)
}

// prepare checks all options and draws images and labels.
func (d *quickstart) prepare(ctx context.Context) error {
	noise, err := datasets.NewNoise("symmetric", d.o.Rate)
	if err != nil {
		return Misuse{err}
	}
	drawn := glyphs.Config{Classes: d.o.Classes, Images: d.o.Images, Seed: glyphs.DemoSeed}
	if d.clean, d.images, err = glyphs.New(drawn); err != nil {
		return Misuse{err}
	}
	for _, t := range trainings {
		cfg, err := d.o.config(t)
		if err != nil {
			return Misuse{err}
		}
		d.configs = append(d.configs, cfg)
	}
	d.noisy, err = d.clean.Corrupt(datasets.Train, noise, run.NoiseRand(d.o.Seed))
	return err
}

// timed runs a stage and records its time.
func (d *quickstart) timed(name string, stage func() error) error {
	d.o.Host.Note("%s …", name)
	start := time.Now()
	err := stage()
	d.result.Seconds[name] = time.Since(start).Seconds()
	return err
}

// writeImages writes the two manifests and the pictures. These go into one file, which fine-tuning and the commands for
// fine-tuned runs read.
func (d *quickstart) writeImages(ctx context.Context) error {
	if err := writeZip(ctx, filepath.Join(d.o.Dir, ImagesFile), d.images, d.clean.Paths()); err != nil {
		return fmt.Errorf("quickstart: %s: %w", ImagesFile, err)
	}
	if err := datasets.WriteFile(filepath.Join(d.o.Dir, ManifestFile), d.noisy); err != nil {
		return fmt.Errorf("quickstart: %s: %w", ManifestFile, err)
	}
	if err := datasets.WriteFile(filepath.Join(d.o.Dir, trueManifest), d.clean); err != nil {
		return fmt.Errorf("quickstart: %s: %w", trueManifest, err)
	}
	return nil
}

// extract makes the features of all images again; it takes seconds.
func (d *quickstart) extract(ctx context.Context) error {
	b, cut, err := extraction.OpenBackbone(Backbone, models.Settings{})
	if err != nil {
		return err
	}
	e := extraction.Extraction{
		Out: filepath.Join(d.o.Dir, FeaturesFolder), Overwrite: true, Root: d.images, Paths: d.clean.Paths(),
		Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch, Strict: true},
	}
	if d.store, err = e.Store(ctx, d.o.Host); err != nil {
		return err
	}
	d.test, _, err = lookup.Split(ctx, d.clean, d.store, datasets.Test)
	return err
}
