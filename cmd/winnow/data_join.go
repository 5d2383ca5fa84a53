package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/published"
)

func dataJoinCommand() *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "give a clean manifest the noisy labels of a list, the truth kept as true_label",
		ArgsUsage: "MANIFEST LIST",
		Description: "LIST has lines path,label as PRISM's released lists with label noise, or is a manifest. Its images are found by\n" +
			"their files' names among the training images of MANIFEST, whose labels become the true ones. Training images that\n" +
			"LIST does not have are left out; the other splits stay as they are:\n\n" +
			"   winnow data import --preset cub200 --root CUB_200_2011/ --protocol half --out cub.csv\n" +
			"   winnow data join cub.csv CUB_0.2noised_train.csv --out cub-noisy.csv\n\n" +
			"The list's labels are understood as names of classes, as numbers of the classes in the order of their names, or (small-\n" +
			"cluster noise, which renumbers them) each as the class it mostly shows; which of these it was is told.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "manifest `FILE` to write"},
			&cli.BoolFlag{Name: "json", Usage: "print the summary as JSON"},
		},
		Action: dataJoin,
	}
}

// joinResult is what winnow data join --json prints.
type joinResult struct {
	Rows    int                  `json:"rows"`
	Labels  string               `json:"labels_by"` // name, number or majority
	LeftOut int                  `json:"left_out"`  // training images that the list does not have
	Noise   datasets.NoiseReport `json:"train_noise"`
}

func dataJoin(c *cli.Context) error {
	if c.NArg() != 2 {
		return misused("winnow data join: found %d arguments, expected two: a clean manifest and a list of noisy labels", c.NArg())
	}
	clean, err := datasets.Read(c.Args().Get(0), datasets.ReadOptions{})
	if err != nil {
		return err
	}
	j, err := joinList(clean, c.Args().Get(1))
	if err != nil {
		return err
	}
	if err := writeManifest(c.String("out"), j.Dataset); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, joinResult{j.Rows, j.How, j.LeftOut, j.Dataset.Noise(datasets.Train)})
	}
	printCounts(c.App.Writer, j.Dataset)
	printJoined(c, j)
	return nil
}

// joinList joins a list to a clean manifest; absolute paths, as PRISM's lists have them, are fine.
func joinList(clean *datasets.Dataset, name string) (*published.Joined, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	opts := datasets.ReadOptions{}
	if bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("/")) {
		opts.StripPrefix = "/"
	}
	noisy, err := datasets.ReadManifest(bytes.NewReader(text), name, opts)
	if err != nil {
		return nil, err
	}
	j, err := published.Join(clean, noisy)
	if err != nil {
		return nil, fmt.Errorf("join: %s: %w", name, err)
	}
	return j, nil
}

func printJoined(c *cli.Context, j *published.Joined) {
	fmt.Fprintf(c.App.Writer, "%-10s %7d labels of the list, understood by %s\n", "joined", j.Rows, j.How)
	if j.LeftOut > 0 {
		fmt.Fprintf(c.App.Writer, "%-10s %7d training images that the list does not have\n", "left out", j.LeftOut)
	}
	printNoise(c.App.Writer, datasets.Train, j.Dataset.Noise(datasets.Train))
}
