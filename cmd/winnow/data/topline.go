package data

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
)

func toplineCommand() *cli.Command {
	o := ToplineOptions{Split: datasets.Train, Seed: 1}
	return &cli.Command{
		Name:      "topline",
		Usage:     "keep the share 1-p of each class with correct labels, as a reference for training with noise p",
		ArgsUsage: "MANIFEST",
		Description: "Makes the reference of Le & Odobez (000): they compare a run on labels with noise rate p with\n" +
			"a run on a share 1-p of the images, all with correct labels. The images are drawn at random from\n" +
			"each class, which keeps at least two images. Other splits, and images without a label, are not\n" +
			"changed. Both runs can use the same features:\n\n" +
			"   winnow data corrupt clean.csv --noise-rate 0.3 --out noisy.csv\n" +
			"   winnow data topline clean.csv --noise-rate 0.3 --out topline.csv",
		Flags: []cli.Flag{
			term.Flag(&o.Out, "out,o", "manifest `FILE` to write; required"),
			term.Flag(&o.Rate, "noise-rate", "share of images to leave out, `P` in [0, 1); required"),
			term.Flag(&o.Split, "split", "the `SPLIT` from which images are left out"),
			term.Flag(&o.Seed, "seed",
				"seed `N` of the draw; with the same seed, a higher rate keeps a subset of the images of a lower rate"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		},
		Action: term.BoundAction(&o, readTopline, runTopline),
	}
}

// ToplineOptions holds the parsed flags of "winnow data topline".
type ToplineOptions struct {
	Manifest   location.Source
	Out, Split string
	Rate       float64
	Seed       uint64
	JSON       bool
}

func readTopline(c *cli.Context, o *ToplineOptions) (err error) {
	if o.Split, err = datasets.ParseSplit(o.Split); err != nil {
		return term.Misused("--split: %w", err)
	}
	if err := datasets.CheckRate(o.Rate); err != nil {
		return term.AsMisuse(err)
	}
	if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
		return err
	}
	return term.KeepInput(c, o.Manifest.Path())
}

func runTopline(ctx context.Context, p *term.Program, o ToplineOptions) error {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: p.Note})
	if err != nil {
		return err
	}
	topline, report, err := d.Topline(o.Split, o.Rate, datasets.ToplineRand(o.Seed))
	if err != nil {
		return err
	}
	if err := datasets.WriteFile(o.Out, topline, p.Note); err != nil {
		return err
	}
	if !report.Truth {
		p.Note("the manifest has no true labels of %s: the given labels are assumed to be true", o.Split)
	}
	if o.JSON {
		return p.JSON(report)
	}
	report.Write(p.Out)
	return nil
}
