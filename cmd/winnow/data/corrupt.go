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
	"winnow/run"
)

//go:embed corrupt.txt
var corruptHelp string

func corruptCommand() *cli.Command {
	o := CorruptOptions{Split: datasets.Train, Seed: 1,
		Noise: run.NoiseSpec{Model: "symmetric", Count: datasets.Independent, Similar: 3}}
	return &cli.Command{
		Name:        "corrupt",
		Usage:       "make some labels of a split wrong for experiments, and keep the true labels as true_label",
		ArgsUsage:   "MANIFEST",
		Description: corruptHelp,
		Flags: []cli.Flag{
			term.Flag(&o.Out, "out,o", "manifest `FILE` to write; required"),
			term.OneOf(term.Flag(&o.Noise.Model, "noise", "`MODEL` of the noise"), run.NoiseModels()...),
			term.Flag(&o.Noise.Rate, "noise-rate", "share of labels to change, `P` in [0, 1); required"),
			term.Flag(&o.Split, "split", "the `SPLIT` to corrupt"),
			term.OneOf(term.Flag(&o.Noise.Count, "count", "symmetric: `HOW` labels are drawn, independently or a "+
				"fixed share of all or of each class"), datasets.Independent, datasets.Exact, datasets.PerClass),
			term.Flag(&o.Noise.Own, "own", "symmetric: draw from all classes, including the label's own"),
			term.Flag(&o.Features, "features", "small-cluster, human-like: feature store `DIR` of the images"),
			term.Flag(&o.Noise.OneShot, "one-shot", "small-cluster: move clusters only to undivided classes"),
			term.Flag(&o.Noise.Similar, "similar", "human-like: draw the new label from the `M` most similar classes"),
			term.Flag(&o.Noise.Nearest, "nearest", "human-like: the new label is the class most similar to the "+
				"image, "+
				"not drawn at random"),
			term.Flag(&o.Seed, "seed", "seed `N` of the noise"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		},
		Action: term.BoundAction(&o, readCorrupt, runCorrupt),
	}
}

// CorruptOptions holds the parsed flags of "winnow data corrupt".
type CorruptOptions struct {
	Manifest   location.Source
	Out, Split string
	Noise      run.NoiseSpec
	Features   string // feature store for the noise models that need one
	Seed       uint64
	JSON       bool
}

// noiseFlags lists the flags that only some noise models use.
var noiseFlags = []struct {
	flag   string
	models []string
}{
	{"count", []string{"symmetric"}}, {"own", []string{"symmetric"}},
	{"features", []string{run.SmallCluster, run.HumanLike}}, {"one-shot", []string{run.SmallCluster}},
	{"similar", []string{run.HumanLike}}, {"nearest", []string{run.HumanLike}},
}

func readCorrupt(c *cli.Context, o *CorruptOptions) (err error) {
	if o.Split, err = datasets.ParseSplit(o.Split); err != nil {
		return term.Misused("--split: %w", err)
	}
	for _, f := range noiseFlags {
		reads := slices.Contains(f.models, o.Noise.Model)
		if c.IsSet(f.flag) && !reads {
			return term.Misused("data corrupt: --%s cannot be used with --noise %s, only with %s", f.flag,
				o.Noise.Model, strings.Join(f.models, " and "))
		}
		if f.flag == "features" && reads && !c.IsSet("features") {
			return term.Misused("data corrupt: --noise %s needs --features, a folder written by winnow extract",
				o.Noise.Model)
		}
	}
	if o.Noise.Similar < 1 {
		return term.Misused("--similar: found %d, expected 1 or more", o.Noise.Similar)
	}
	if err := datasets.CheckRate(o.Noise.Rate); err != nil {
		return term.AsMisuse(err)
	}
	if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
		return err
	}
	return term.KeepInput(c, o.Manifest.Path())
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
