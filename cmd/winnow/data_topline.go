package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/run"
)

func dataToplineCommand() *cli.Command {
	return &cli.Command{
		Name:      "topline",
		Usage:     "write a manifest with a share 1-p of each class and only true labels: what noise p leaves to learn from",
		ArgsUsage: "MANIFEST",
		Description: "The reference of Le & Odobez (000): a run on labels of which a share p is wrong is compared with a run on the share\n" +
			"1-p of the images, all labelled right. Each class keeps its share, drawn at random, and at least two images. Other\n" +
			"splits, and images without a label, stay as they are; the same features serve both runs:\n\n" +
			"   winnow data corrupt clean.csv --rate 0.3 --out noisy.csv\n" +
			"   winnow data topline clean.csv --rate 0.3 --out topline.csv",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "manifest `FILE` to write"},
			&cli.Float64Flag{Name: "rate", Required: true, Usage: "share of images to leave out, `P` in [0, 1)"},
			&cli.StringFlag{Name: "split", Value: datasets.Train, Usage: "the split to thin out"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the draw; with the same one a higher rate keeps a part of what a lower one keeps"},
			&cli.BoolFlag{Name: "json", Usage: "print the summary as JSON"},
		},
		Action: dataTopline,
	}
}

func dataTopline(c *cli.Context) error {
	split, err := datasets.ParseSplit(c.String("split"))
	if err != nil {
		return misused("--split: %w", err)
	}
	if err := datasets.CheckRate(c.Float64("rate")); err != nil {
		return asMisuse(err)
	}
	d, err := readManifestArg(c)
	if err != nil {
		return err
	}
	if err := keepInput(c, c.Args().First()); err != nil {
		return err
	}
	topline, report, err := d.Topline(split, c.Float64("rate"), run.ToplineRand(c.Uint64("seed")))
	if err != nil {
		return err
	}
	if err := writeManifest(c.String("out"), topline); err != nil {
		return err
	}
	if !report.Truth {
		note(c, "the manifest has no true labels of %s: the given ones are taken for true", split)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	printTopline(c.App.Writer, report)
	return nil
}

func printTopline(w io.Writer, r datasets.ToplineReport) {
	fmt.Fprintf(w, "%s: %d of %d images kept (%.2f %%), in %d classes of %d to %d; of all %d labels %d were wrong\n",
		r.Split, r.Kept, r.Images, 100*float64(r.Kept)/float64(r.Images), r.Classes, r.Smallest, r.Largest, r.Images, r.Relabeled)
	if r.Raised > 0 {
		fmt.Fprintf(w, "%d class(es) keep more than their share, to have two images\n", r.Raised)
	}
	if n := len(r.Lone); n > 0 {
		fmt.Fprintf(w, "%d class(es) have one image, and no pair of two: %s\n", n, strings.Join(first(r.Lone, 5), ", "))
	}
}
