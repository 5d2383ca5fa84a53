package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/extraction"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/models"
	"winnow/run/auditing"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "run the whole path on drawn characters with half of the labels wrong, and write a report",
		Description: "Draws the embedded dataset, extracts features with the embedded backbone, gives the training images wrong\n" +
			"labels, and fine-tunes the backbone with a head on it three times, with the same seed and budget: on the true\n" +
			"labels, on the wrong ones without a filter, and on the wrong ones with PRISM (vMF-Sim). Then the same three\n" +
			"times a head alone, on features that stay as they are. Writes result.json, report.html and the files of every\n" +
			"stage; the folders of the trainings are runs like any other.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "demo", Usage: "`DIR` to write"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of noise and training"},
			&cli.Float64Flag{Name: "rate", Value: 0.5, Usage: "share `P` of the training labels made wrong"},
			&cli.IntFlag{Name: "classes", DefaultText: "all 240", Usage: "draw `N` characters only, 12 … 240"},
			&cli.IntFlag{Name: "images", Value: glyphs.DefaultImages, Usage: "draw `N` images of each, 2 … 1000"},
			&cli.StringSliceFlag{Name: "set", Usage: "one setting of the trainings, `KEY=VALUE` as of winnow train; may be repeated"},
			&cli.BoolFlag{Name: "json", Usage: "print result.json instead of the table"},
		},
		Action: runDemo,
	}
}

// The files and folders of a demo, beside the runs. The manifests are as the trainings on wrong labels see them,
// and as the topline does.
const (
	demoImages    = "images.zip"
	demoFeatures  = "features"
	noisyManifest = "manifest.csv"
	trueManifest  = "true.csv"
)

// demo is one run of the demo; its stages are timed.
type demo struct {
	c       *cli.Context
	dir     string
	seed    uint64
	rate    float64 // share of wrong labels
	clean   *datasets.Dataset
	noisy   *datasets.Dataset
	images  fs.FS
	rt      *ort.Runtime
	store   *features.Store // of the backbone as it is
	test    features.Set    // its features of the test images
	curves  []demoCurves    // of the fine-tuned trainings
	idle    []string        // trainings that never beat the untrained head on validation
	found   features.Set    // the test images as the filtered training's last state embeds them
	audited *auditing.Report
	result  demoResult
}

func runDemo(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	d := &demo{c: c, dir: c.String("out"), seed: c.Uint64("seed"), rate: c.Float64("rate")}
	noise, err := datasets.NewNoise("symmetric", d.rate) // all that can be misused is looked at before anything is written
	if err != nil {
		return asMisuse(err)
	}
	d.result = demoResult{Seed: d.seed, NoiseRate: d.rate, Seconds: map[string]float64{}}
	if d.clean, d.images, err = glyphs.New(glyphs.Config{Classes: c.Int("classes"), Images: c.Int("images"), Seed: glyphsSeed}); err != nil {
		return asMisuse(err)
	}
	for _, run := range demoRuns {
		if _, err := d.config(run); err != nil {
			return err
		}
	}
	if d.noisy, err = d.clean.Corrupt(datasets.Train, noise, noiseRand(d.seed)); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if d.rt, err = openRuntime(c); err != nil {
		return err
	}
	start := time.Now()
	for _, stage := range []struct {
		name string
		do   func() error
	}{{"images", d.writeImages}, {"extract", d.extract}} {
		if err := d.timed(stage.name, stage.do); err != nil {
			return err
		}
	}
	for _, run := range demoRuns {
		if err := d.timed(run.dir, func() error { return d.run(run) }); err != nil {
			return err
		}
	}
	d.judge()
	d.result.Seconds["total"] = time.Since(start).Seconds()
	if err := d.write(); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, d.result)
	}
	d.print(c.App.Writer)
	return nil
}

// timed runs a stage and notes how long it took.
func (d *demo) timed(name string, stage func() error) error {
	note(d.c, "%s …", name)
	start := time.Now()
	err := stage()
	d.result.Seconds[name] = time.Since(start).Seconds()
	return err
}

// writeImages writes the pictures into one file, which fine-tuning and the commands that look at a fine-tuned run
// read, and the two manifests.
func (d *demo) writeImages() error {
	if err := writeZip(filepath.Join(d.dir, demoImages), d.images, d.clean.Paths()); err != nil {
		return fmt.Errorf("demo: %s: %w", demoImages, err)
	}
	for name, list := range map[string]*datasets.Dataset{noisyManifest: d.noisy, trueManifest: d.clean} {
		if err := writeManifest(filepath.Join(d.dir, name), list); err != nil {
			return fmt.Errorf("demo: %s: %w", name, err)
		}
	}
	return nil
}

// extract makes the features of every image, always anew: it takes seconds.
func (d *demo) extract() error {
	registry, err := openRegistry()
	if err != nil {
		return err
	}
	b, err := registry.Resolve(demoBackbone, models.Settings{})
	if err != nil {
		return err
	}
	cut, err := models.Prepare(b.Entry, b.Data, "")
	if err != nil {
		return err
	}
	e := extraction.Extraction{
		Out: filepath.Join(d.dir, demoFeatures), Overwrite: true, Root: d.images, Paths: d.clean.Paths(), Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch, Strict: true},
	}
	if d.store, err = e.Store(d.c.Context, extractionHost(d.c)); err != nil {
		return err
	}
	d.test, _, err = lookup.Split(d.clean, d.store, datasets.Test)
	return err
}
