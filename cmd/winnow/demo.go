package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/atomicfile"
	"winnow/internal/config"
	"winnow/models"
	"winnow/train"
)

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "run the whole path on drawn characters with half of the labels wrong, and write a report",
		Description: "Draws the embedded dataset, extracts features with the embedded backbone, gives the training images wrong\n" +
			"labels, and trains three heads with the same seed and budget: without a filter, with PRISM (vMF-Sim), and on\n" +
			"the true labels. Writes result.json, report.html and the files of every stage.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "demo", Usage: "`DIR` to write"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of noise and training"},
			&cli.Float64Flag{Name: "rate", Value: 0.5, Usage: "share `P` of the training labels made wrong"},
			&cli.IntFlag{Name: "classes", DefaultText: "all 240", Usage: "draw `N` characters only, 12 … 240"},
			&cli.IntFlag{Name: "images", Value: glyphs.DefaultImages, Usage: "draw `N` images of each, 2 … 1000"},
			&cli.StringSliceFlag{Name: "set", Usage: "one setting of the three trainings, `KEY=VALUE` as of winnow train; may be repeated"},
			&cli.BoolFlag{Name: "json", Usage: "print result.json instead of the table"},
		},
		Action: runDemo,
	}
}

// demoResult is result.json.
type demoResult struct {
	Seed       uint64             `json:"seed"`
	NoiseRate  float64            `json:"noise_rate"`
	Frozen     eval.Retrieval     `json:"frozen"`
	Whitened   eval.Retrieval     `json:"whitened"`
	Topline    eval.Retrieval     `json:"topline"`
	Unfiltered eval.Retrieval     `json:"unfiltered"`
	PRISM      eval.Retrieval     `json:"prism"`
	Detection  eval.Detection     `json:"detection"`
	Chosen     demoChosen         `json:"chosen_by_validation"`
	Cost       float64            `json:"noise_cost"`      // P@1 of topline less that of unfiltered
	Recovered  *float64           `json:"recovered_share"` // of that, by PRISM; null where the noise cost nothing
	Verdict    []string           `json:"verdict"`
	Seconds    map[string]float64 `json:"seconds"`
}

// demoChosen are the same three trainings where a validation split with true labels chooses the state. The
// fields above are the last states, after equal budgets: who has wrong labels seldom has such a split.
type demoChosen struct {
	Topline    eval.Retrieval `json:"topline"`
	Unfiltered eval.Retrieval `json:"unfiltered"`
	PRISM      eval.Retrieval `json:"prism"`
}

// The manifests of the demo: as the trainings on wrong labels see it, and as the topline does.
const (
	noisyManifest = "manifest.csv"
	trueManifest  = "true.csv"
)

// demo is one run of the demo; its stages are timed.
type demo struct {
	c       *cli.Context
	dir     string
	seed    uint64
	clean   *datasets.Dataset
	noisy   *datasets.Dataset
	images  fs.FS
	store   *features.Store
	curves  []demoCurves
	idle    []string   // trainings that never beat the untrained head on validation
	last    *head.Head // of the filtered training
	audited audited
	result  demoResult
}

// demoCurves are what one training looked like, over epochs.
type demoCurves struct {
	name   string
	tone   int
	loss   demoCurve // of every step
	purity demoCurve // share of clean among kept, of every step that kept any
	score  demoCurve // P@1 on validation
}

type demoCurve struct{ x, y []float64 }

func (c *demoCurve) add(x, y float64) { c.x, c.y = append(c.x, x), append(c.y, y) }

func runDemo(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	rate := c.Float64("rate") // all that can be misused is looked at before anything is written
	noise, err := datasets.NewNoise("symmetric", rate)
	if err != nil {
		return usageError{err}
	}
	d := &demo{c: c, dir: c.String("out"), seed: c.Uint64("seed")}
	d.result = demoResult{Seed: d.seed, NoiseRate: rate, Seconds: map[string]float64{}}
	if d.clean, d.images, err = glyphs.New(glyphs.Config{Classes: c.Int("classes"), Images: c.Int("images"), Seed: glyphsSeed}); err != nil {
		return usageError{err}
	}
	if _, err := d.config(rate, true, noisyManifest); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	start := time.Now()
	if err := d.timed("extract", d.extract); err != nil {
		return err
	}
	if d.noisy, err = d.clean.Corrupt(datasets.Train, noise, noiseRand(d.seed)); err != nil {
		return err
	}
	for name, list := range map[string]*datasets.Dataset{noisyManifest: d.noisy, trueManifest: d.clean} {
		if err := writeManifest(filepath.Join(d.dir, name), list); err != nil {
			return fmt.Errorf("demo: %s: %w", name, err)
		}
	}
	if err := d.train(rate); err != nil {
		return err
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

// config is the one setting of the three trainings; only filter and labels differ.
func (d *demo) config(rate float64, filtered bool, manifest string) (config.Run, error) {
	settings := d.c.StringSlice("set")
	for _, setting := range settings {
		if key, _, _ := strings.Cut(setting, "="); key == "seed" || strings.HasPrefix(key, "data.") {
			return config.Run{}, misused("demo: --set %s: the demo decides this itself, by --seed and --out", key)
		}
	}
	cfg, err := config.Load("", append([]string{fmt.Sprintf("filter.rate=%g", rate)}, settings...))
	if err != nil {
		return cfg, usageError{err}
	}
	cfg.Seed = d.seed
	cfg.Data = config.Data{Manifest: filepath.Join(d.dir, manifest), Features: filepath.Join(d.dir, "features")}
	if !filtered {
		cfg.Filter.Scorer = config.NoFilter
	}
	if err := cfg.Validate(); err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

// train trains the three heads, measures them, and audits the training labels with the filtered one.
func (d *demo) train(rate float64) error {
	test, _, err := splitSet(d.clean, d.store, datasets.Test)
	if err != nil {
		return err
	}
	for _, run := range []struct {
		name     string
		tone     int
		data     *datasets.Dataset
		manifest string
		filtered bool
		to       *eval.Retrieval
		chosen   *eval.Retrieval
	}{
		{"topline", 3, d.clean, trueManifest, false, &d.result.Topline, &d.result.Chosen.Topline},
		{"unfiltered", 2, d.noisy, noisyManifest, false, &d.result.Unfiltered, &d.result.Chosen.Unfiltered},
		{"prism", 1, d.noisy, noisyManifest, true, &d.result.PRISM, &d.result.Chosen.PRISM},
	} {
		cfg, err := d.config(rate, run.filtered, run.manifest)
		if err != nil {
			return err
		}
		data, err := joinTrainData(run.data, d.store)
		if err != nil {
			return err
		}
		curves := demoCurves{name: run.name, tone: run.tone}
		var out trained
		err = d.timed(run.name, func() error {
			out, err = trainRun(d.c.Context, cfg, data, d.watch(&curves, run.data, cfg, filepath.Join(d.dir, run.name)))
			return err
		})
		if err != nil {
			return err
		}
		d.curves = append(d.curves, curves)
		if out.BestStep == 0 {
			d.idle = append(d.idle, run.name)
		}
		all, err := compareOn(d.c.Context, out.Head, data.Train, test, nil, eval.RetrievalOptions{})
		if err != nil {
			return err
		}
		*run.chosen, d.result.Frozen, d.result.Whitened = all.Trained, all.Frozen, all.Whitened
		last, _, err := models.ReadHead(filepath.Join(d.dir, run.name, lastHeadFile))
		if err != nil {
			return err
		}
		z, err := embed(last, test)
		if err != nil {
			return err
		}
		if *run.to, err = eval.Retrieve(d.c.Context, z, nil, eval.RetrievalOptions{}); err != nil {
			return err
		}
		if run.filtered {
			d.last = last
			err = d.timed("audit", func() error { return d.audit(d.c.Context, out.Filter) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// watch follows a training: what eval knows (the truth) and the trainer does not meets here.
func (d *demo) watch(curves *demoCurves, data *datasets.Dataset, cfg config.Run, dir string) trainOptions {
	epochs := func(step int) float64 { return 0 }
	opts := trainOptions{Dir: dir, Begun: func(plan trainPlan) error {
		epochs = func(step int) float64 { return float64(step) / float64(max(plan.Epoch, 1)) }
		return d.beginRun(cfg, dir)
	}}
	opts.Stepped = func(s train.Step) {
		curves.loss.add(epochs(s.Number), s.Loss)
		clean := 0
		for _, at := range s.Kept {
			if sample := data.Samples[s.IDs[at]]; sample.True == datasets.Unlabelled || sample.True == sample.Label {
				clean++
			}
		}
		if len(s.Kept) > 0 {
			curves.purity.add(epochs(s.Number), float64(clean)/float64(len(s.Kept)))
		}
	}
	opts.Validated = func(v train.Validation) { curves.score.add(epochs(v.Step), v.Score) }
	return opts
}

// beginRun empties a run's folder of an earlier demo and writes its config.yaml, so that winnow eval and winnow
// audit take the folder as one of winnow train.
func (d *demo) beginRun(cfg config.Run, dir string) error {
	if err := prepareRunFolder(dir, false, true); err != nil {
		return err
	}
	if err := clearRunFolder(dir); err != nil {
		return err
	}
	text, err := config.Marshal(cfg)
	if err == nil {
		err = atomicfile.WriteBytes(filepath.Join(dir, configFile), text)
	}
	if err != nil {
		return fmt.Errorf("demo: %s: %w", filepath.Join(dir, configFile), err)
	}
	return nil
}

// audit judges the given training labels by the filtered head.
func (d *demo) audit(ctx context.Context, filter filters.Config) error {
	set, _, err := splitSet(d.noisy, d.store, datasets.Train)
	if err != nil {
		return err
	}
	d.audited, err = audit(ctx, d.last, set, d.noisy, filter, nil, 0)
	if err != nil {
		return err
	}
	d.result.Detection = *d.audited.Detection
	return nil
}

// extract makes the features of every image, always anew: it takes seconds.
func (d *demo) extract() error {
	registry, err := openRegistry()
	if err != nil {
		return err
	}
	b, err := registry.Resolve("glyphnet", models.Settings{})
	if err != nil {
		return err
	}
	cut, err := models.Prepare(b.Entry, b.Data, "")
	if err != nil {
		return err
	}
	e := extraction{
		out: filepath.Join(d.dir, "features"), overwrite: true, root: d.images, paths: d.clean.Paths(), model: b, cut: cut,
		cfg: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: 64, Strict: true},
	}
	if _, err = e.run(d.c); err != nil {
		return err
	}
	d.store, err = features.Open(e.out)
	return err
}
