package data

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/catalog"
	"winnow/run"
)

//go:embed corrupt.txt
var corruptHelp string

func corruptCommand() *cli.Command {
	return &cli.Command{
		Name:        "corrupt",
		Usage:       "make labels of one split wrong, for experiments, and keep the truth as true_label",
		ArgsUsage:   "MANIFEST",
		Description: corruptHelp,
		Flags: []cli.Flag{
			term.Required(term.OutFlag("manifest `FILE` to write")),
			&cli.StringFlag{Name: "noise", Value: "symmetric",
				Usage: "`MODEL` of the noise: " + strings.Join(run.NoiseModels(), ", ")},
			&cli.Float64Flag{Name: "noise-rate", Usage: "share of labels to change, `P` in [0, 1); required"},
			&cli.StringFlag{Name: "split", Value: datasets.Train, Usage: "the `SPLIT` to corrupt"},
			&cli.StringFlag{Name: "count", Value: datasets.Independent,
				Usage: "symmetric, `WAY` to count: each label by chance (independent), a share of all (exact) or " +
					"of each class (per-class)"},
			&cli.BoolFlag{Name: "own", Usage: "symmetric: draw from all classes, including the label's own"},
			&cli.StringFlag{Name: "features",
				Usage: "small-cluster, human-like: feature store `DIR` of the images"},
			&cli.BoolFlag{Name: "one-shot", Usage: "small-cluster: clusters join only classes that stay"},
			&cli.IntFlag{Name: "similar", Value: 3,
				Usage: "human-like: `M` most similar classes that a label may become"},
			&cli.BoolFlag{Name: "nearest",
				Usage: "human-like: the label becomes the class most similar to the image, instead of one drawn"},
			term.SeedFlag("seed `N` of the noise"),
			term.JSONFlag(),
		},
		Action: term.Action(readCorrupt, runCorrupt),
	}
}

// CorruptOptions say which labels to make wrong, and how.
type CorruptOptions struct {
	Manifest   location.Source
	Out, Split string
	Noise      run.NoiseSpec
	Features   string // store for the models of noise that need one
	Seed       uint64
	JSON       bool
}

// noiseFlags are the flags that only some models use.
var noiseFlags = []struct {
	flag   string
	models []string
}{
	{"count", []string{"symmetric"}}, {"own", []string{"symmetric"}},
	{"features", []string{run.SmallCluster, run.HumanLike}}, {"one-shot", []string{run.SmallCluster}},
	{"similar", []string{run.HumanLike}}, {"nearest", []string{run.HumanLike}},
}

func readCorrupt(c *cli.Context) (o CorruptOptions, err error) {
	o = CorruptOptions{Out: c.String("out"), Features: c.String("features"), Seed: c.Uint64("seed"),
		JSON: c.Bool("json"),
		Noise: run.NoiseSpec{
			Model: c.String("noise"), Rate: c.Float64("noise-rate"), Count: c.String("count"), Own: c.Bool("own"),
			OneShot: c.Bool("one-shot"), Similar: c.Int("similar"), Nearest: c.Bool("nearest"),
		}}
	if o.Split, err = datasets.ParseSplit(c.String("split")); err != nil {
		return o, term.Misused("--split: %w", err)
	}
	if !slices.Contains(run.NoiseModels(), o.Noise.Model) {
		return o, term.Misused("data corrupt: --noise: %q is unknown%s, expected %s", o.Noise.Model,
			catalog.Ask(o.Noise.Model, run.NoiseModels()), strings.Join(run.NoiseModels(), ", "))
	}
	for _, f := range noiseFlags {
		reads := slices.Contains(f.models, o.Noise.Model)
		if c.IsSet(f.flag) && !reads {
			return o, term.Misused("data corrupt: --%s does not go with --noise %s, only with %s", f.flag,
				o.Noise.Model, strings.Join(f.models, " and "))
		}
		if f.flag == "features" && reads && !c.IsSet("features") {
			return o, term.Misused("data corrupt: --noise %s needs --features, a folder that winnow extract made",
				o.Noise.Model)
		}
	}
	counts := []string{datasets.Independent, datasets.Exact, datasets.PerClass}
	if count := o.Noise.Count; !slices.Contains(counts, count) {
		return o, term.Misused("--count: %q is unknown, expected %s, %s or %s", count, counts[0], counts[1], counts[2])
	}
	if o.Noise.Similar < 1 {
		return o, term.Misused("--similar: found %d, expected 1 or more", o.Noise.Similar)
	}
	if err := datasets.CheckRate(o.Noise.Rate); err != nil {
		return o, term.AsMisuse(err)
	}
	if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
		return o, err
	}
	return o, term.KeepInput(c, o.Manifest.Path())
}

func runCorrupt(ctx context.Context, p *term.Program, o CorruptOptions) error {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: p.Note})
	if err != nil {
		return err
	}
	noisy, err := run.Corrupt(ctx, d, o.Split, o.Noise, o.Features, o.Seed)
	if err != nil {
		return err
	}
	if err := datasets.WriteFile(o.Out, noisy, p.Note); err != nil {
		return err
	}
	report := noisy.Noise(o.Split)
	if o.JSON {
		return p.JSON(report)
	}
	report.Write(p.Out, o.Split)
	return nil
}
