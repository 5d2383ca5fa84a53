package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/catalog"
	"winnow/run"
)

func dataCorruptCommand() *cli.Command {
	return &cli.Command{
		Name:      "corrupt",
		Usage:     "write a manifest with wrong labels in one split, the truth kept as true_label",
		ArgsUsage: "MANIFEST",
		Description: "Models of noise:\n\n" +
			"   symmetric      to any other class; --count and --own vary it\n" +
			"   pair           to the next class, the last to the first\n" +
			"   bspml          as symmetric, in every class a share of its labels and at least one\n" +
			"   cifar10        truck to automobile, bird to airplane, cat to dog and back, deer to horse\n" +
			"   cifar100       to the next class of the same superclass\n" +
			"   small-cluster  whole classes fall into clusters of about two images, each of which joins another class\n" +
			"   human-like     images between their class and a similar one, to a similar class\n\n" +
			"The last two look at the images, through features that were extracted from all of them before:\n\n" +
			"   winnow data corrupt clean.csv --model human-like --rate 0.05 --features features --out noisy.csv",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "manifest `FILE` to write"},
			&cli.StringFlag{Name: "model", Aliases: []string{"noise"}, Value: "symmetric", Usage: strings.Join(run.NoiseModels(), ", ")},
			&cli.Float64Flag{Name: "rate", Required: true, Usage: "share of labels to change, `P` in [0, 1)"},
			&cli.StringFlag{Name: "split", Value: datasets.Train, Usage: "the split to corrupt"},
			&cli.StringFlag{Name: "count", Value: datasets.Independent, Usage: "symmetric: each label by chance (independent), a share of all (exact) or of each class (per-class)"},
			&cli.BoolFlag{Name: "own", Usage: "symmetric: draw from all classes, the label's own one too"},
			&cli.StringFlag{Name: "features", Usage: "small-cluster, human-like: `DIR` with the features of the images"},
			&cli.BoolFlag{Name: "one-shot", Usage: "small-cluster: clusters join only classes that stay"},
			&cli.IntFlag{Name: "similar", Value: 3, Usage: "human-like: `M` most similar classes that a label may become"},
			&cli.BoolFlag{Name: "nearest", Usage: "human-like: the label becomes the class most similar to the image, instead of one drawn"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the noise"},
			&cli.BoolFlag{Name: "json", Usage: "print the summary as JSON"},
		},
		Action: dataCorrupt,
	}
}

func dataCorrupt(c *cli.Context) error {
	split, err := datasets.ParseSplit(c.String("split"))
	if err != nil {
		return misused("--split: %w", err)
	}
	if err := checkNoiseFlags(c); err != nil {
		return err
	}
	d, err := readManifestArg(c)
	if err != nil {
		return err
	}
	if err := keepInput(c, c.Args().First()); err != nil {
		return err
	}
	noise, err := noiseModel(c, d, split)
	if err != nil {
		return err
	}
	noisy, err := d.Corrupt(split, noise, noiseRand(c.Uint64("seed")))
	if err != nil {
		return err
	}
	if err := writeManifest(c.String("out"), noisy); err != nil {
		return err
	}
	report := noisy.Noise(split)
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	printNoise(c.App.Writer, split, report)
	return nil
}

// The noise models that look at the images.
const (
	smallCluster = run.SmallCluster
	humanLike    = run.HumanLike
)

// noiseFlags are the flags that only some models read.
func noiseFlags() map[string][]string {
	return map[string][]string{
		"count": {"symmetric"}, "own": {"symmetric"},
		"features": {smallCluster, humanLike}, "one-shot": {smallCluster}, "similar": {humanLike}, "nearest": {humanLike},
	}
}

// checkNoiseFlags refuses flags that the model does not read, and values out of range.
func checkNoiseFlags(c *cli.Context) error {
	model := c.String("model")
	if !slices.Contains(run.NoiseModels(), model) {
		return misused("data corrupt: --model: %q is unknown%s, expected %s", model, catalog.Ask(model, run.NoiseModels()), strings.Join(run.NoiseModels(), ", "))
	}
	for flag, models := range noiseFlags() {
		if c.IsSet(flag) && !slices.Contains(models, model) {
			return misused("data corrupt: --%s does not go with --model %s, only with %s", flag, model, strings.Join(models, " and "))
		}
	}
	if slices.Contains(noiseFlags()["features"], model) && !c.IsSet("features") {
		return misused("data corrupt: --model %s needs --features, a folder that winnow extract made", model)
	}
	if count := c.String("count"); !slices.Contains([]string{datasets.Independent, datasets.Exact, datasets.PerClass}, count) {
		return misused("--count: %q is unknown, expected %s, %s or %s", count, datasets.Independent, datasets.Exact, datasets.PerClass)
	}
	if m := c.Int("similar"); m < 1 {
		return misused("--similar: found %d, expected 1 or more", m)
	}
	return nil
}

// noiseModel is the model that the flags, which are checked, describe.
func noiseModel(c *cli.Context, d *datasets.Dataset, split string) (datasets.Noise, error) {
	spec := noiseSpec{
		Model: c.String("model"), Rate: c.Float64("rate"), Count: c.String("count"), Own: c.Bool("own"),
		OneShot: c.Bool("one-shot"), Similar: c.Int("similar"), Nearest: c.Bool("nearest"),
	}
	return newNoise(c.Context, spec, func() (blas32.General, error) {
		store, err := features.Open(c.String("features"))
		if err != nil {
			return blas32.General{}, err
		}
		return vectorsIn(store, d, split)
	})
}

func printNoise(w io.Writer, split string, r datasets.NoiseReport) {
	fmt.Fprintf(w, "%s: %d of %d labels wrong (%.2f %%; per class %.1f to %.1f %%)\n",
		split, r.Corrupted, r.Samples, 100*r.Rate, 100*r.ClassMin, 100*r.ClassMax)
	fmt.Fprintf(w, "pairs said alike that differ: %.2f %% (symmetric noise: %.2f %%); pairs said different that are alike: %.3f %% (%.3f %%)\n",
		100*r.WrongPositive, 100*r.ExpectedWrongPositive, 100*r.WrongNegative, 100*r.ExpectedWrongNegative)
	fmt.Fprintf(w, "%d true classes, %d given ones; rates of the classes deviate by %.2f %% (independent flips: %.2f %%)\n",
		r.Classes, r.Labels, 100*r.ClassDeviation, 100*r.BinomialDeviation)
}
