package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/losses"
	"winnow/papers/theory/skew"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

func theorySkewCommand() *cli.Command {
	return &cli.Command{
		Name:      "skew",
		Usage:     "measure how unevenly mining takes the pairs of batches, and which bounds follow",
		ArgsUsage: "[RUN]",
		Description: "The bounds of Le & Odobez (000) depend on how much too often hard pairs are taken: η of the triplet loss, for random\n" +
			"and fixed semi-hard mining, and γ of the marginal loss. Here they are measured on a run's own batches (its sampler,\n" +
			"its seed, from its first epoch on), embedded by its head as it is now, or on frozen features without a run:\n\n" +
			"   winnow theory skew runs/a\n" +
			"   winnow theory skew --features features --manifest manifest.csv --batch 12x5 --json\n\n" +
			"Negative pairs are parted by distance into 20 bins of equally many, and r is the share of the pairs taken in a bin\n" +
			"over its share of all: η is the largest of r and 1/r. Positive pairs are binned the same way; they are taken where\n" +
			"they cost the marginal loss something. γ is the smallest r of the negatives over the largest r of the positives.",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "batches", DefaultText: "those of one epoch", Usage: "look at `N` batches"},
			&cli.StringFlag{Name: "batch", DefaultText: "the run's, or 12x5", Usage: "`PxK`: classes and images of each in a batch"},
			&cli.Float64Flag{Name: "margin", DefaultText: "the run's, or 0.2", Usage: "`α` of the triplet and the marginal loss"},
			&cli.Float64Flag{Name: "beta", DefaultText: "the run's, or 1.4", Usage: "`β` of the marginal loss"},
			&cli.Uint64Flag{Name: "seed", DefaultText: "the run's, or 1", Usage: "seed `N` of the batches and of what mining draws"},
			&cli.BoolFlag{Name: "json", Usage: "print everything with the bins as JSON"},
		}, dataFlags...),
		Action: theorySkew,
	}
}

// skewResult is what winnow theory skew --json prints.
type skewResult struct {
	Run  string `json:"run,omitempty"`
	Head string `json:"head,omitempty"` // file in the run's folder; "" for frozen features
	Step *int   `json:"step,omitempty"` // of the training, after which the head was as it is; absent where the run does not say
	View string `json:"view,omitempty"`
	Seed uint64 `json:"seed"`
	skew.Report
	LeftOut []lookup.LeftOut `json:"left_out"`
}

func theorySkew(c *cli.Context) error {
	if c.IsSet("batches") && c.Int("batches") < 1 {
		return misused("--batches: found %d, expected 1 or more", c.Int("batches"))
	}
	var w skewWork
	var err error
	if c.Args().Present() {
		w, err = skewOfRun(c)
	} else {
		w, err = skewOfFeatures(c)
	}
	if err != nil {
		return err
	}
	if err := w.measure(c); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, w.result)
	}
	return printSkew(c.App.Writer, w.result)
}

// skewWork is what the skew is measured on.
type skewWork struct {
	result  skewResult
	set     features.Set // training images as embedded, classes numbered without gaps
	classes int
	sampler train.SamplerConfig
	margin  float64
	beta    float64
}

// skewOfRun embeds a run's training images and takes over its batches and the settings of its losses.
func skewOfRun(c *cli.Context) (w skewWork, err error) {
	r, err := openRunArg(c, datasets.Train, datasets.Validation)
	if err != nil {
		return w, err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return w, err
	}
	defer rt.Close()
	data, err := run.Join(r.Manifest, r.Store)
	if err != nil {
		return w, err
	}
	w = newSkewWork(data)
	w.result.Run, w.result.Head, w.result.View, w.result.Seed = r.Dir, r.HeadFile, r.Look(), r.Config.Seed
	if w.result.Step = stateStep(r); w.result.Step != nil && *w.result.Step == 0 {
		note(c, "%s is the state before the first step, which validation found best: --last takes the one after the training", r.HeadFile)
	}
	w.sampler = r.Config.Sampler
	w.lossSettings(r.Config.Losses)
	w.set, err = r.Head.EmbedSet(data.Train)
	return w, err
}

// stateStep is the step after which a run's head was what it is, nil where the run's result does not say.
func stateStep(r *openedRun) *int {
	var result folder.Result
	text, err := os.ReadFile(filepath.Join(r.Dir, folder.ResultFile))
	if err != nil || json.Unmarshal(text, &result) != nil {
		return nil
	}
	if r.HeadFile == folder.BestHeadFile && result.BestStep >= 0 {
		return &result.BestStep
	}
	return &result.Steps
}

// skewOfFeatures takes the features of a store as embeddings.
func skewOfFeatures(c *cli.Context) (w skewWork, err error) {
	for _, flag := range []string{"manifest", "features"} {
		if !c.IsSet(flag) {
			return w, misused("theory skew: --%s is missing: expected a run folder, or --manifest and --features", flag)
		}
	}
	d, err := datasets.Read(c.String("manifest"), datasets.ReadOptions{})
	if err != nil {
		return w, err
	}
	store, err := features.Open(c.String("features"))
	if err != nil {
		return w, err
	}
	if store, err = folder.LookAt(store, c.String("view"), noter(c)); err != nil {
		return w, err
	}
	data, err := run.Join(d, store)
	if err != nil {
		return w, err
	}
	w = newSkewWork(data)
	w.sampler = train.SamplerConfig{Variant: train.Groups, Classes: 12, Images: 5}
	return w, features.Normalize(w.set.X)
}

// newSkewWork has the paper's settings.
func newSkewWork(data run.Data) skewWork {
	s := skew.Default(len(data.Classes))
	return skewWork{
		set: data.Train, classes: len(data.Classes), margin: s.Margin, beta: s.Beta,
		result: skewResult{Seed: 1, LeftOut: append([]lookup.LeftOut{}, data.LeftOut...)},
	}
}

// lossSettings takes α and β over from a run's marginal loss, and α from its triplet loss if that compares the same
// distances: those of others, such as their squares, say nothing here.
func (w *skewWork) lossSettings(list []config.Loss) {
	for _, l := range list {
		values, err := losses.Resolve(l.Name, l.Settings)
		switch {
		case err != nil:
		case l.Name == "marginal":
			w.margin, w.beta = values["margin"].(float64), values["beta"].(float64)
		case l.Name == "triplet" && values["distance"] == "l2":
			w.margin = values["margin"].(float64)
		}
	}
}

// measure takes the batches from the first epoch on.
func (w *skewWork) measure(c *cli.Context) error {
	if err := w.flags(c); err != nil {
		return err
	}
	meter, err := skew.NewMeter(skew.Settings{Margin: w.margin, Beta: w.beta, Classes: w.classes})
	if err != nil {
		return asMisuse(err)
	}
	sampler, err := train.NewSampler(w.sampler, w.set.Labels, w.result.Seed)
	if err != nil {
		return err
	}
	batches := sampler.Batches()
	if c.IsSet("batches") {
		batches = c.Int("batches")
	}
	for done, epoch := 0, 0; done < batches; epoch++ {
		for _, rows := range first(sampler.Epoch(epoch), batches-done) {
			if err := c.Context.Err(); err != nil {
				return err
			}
			meter.Add(w.set.Rows(rows[:sampler.Labelled()]), train.Rand(w.result.Seed, "skew", done))
			done++
		}
	}
	w.result.Report = meter.Report()
	return nil
}

// flags changes what the flags name.
func (w *skewWork) flags(c *cli.Context) (err error) {
	if c.IsSet("batch") {
		s := &w.sampler
		if s.Classes, s.Images, s.Rows, err = parseBatch(c.String("batch"), s.Variant); err != nil {
			return asMisuse(err)
		}
	}
	if c.IsSet("margin") {
		w.margin = c.Float64("margin")
	}
	if c.IsSet("beta") {
		w.beta = c.Float64("beta")
	}
	if c.IsSet("seed") {
		w.result.Seed = c.Uint64("seed")
	}
	return nil
}
