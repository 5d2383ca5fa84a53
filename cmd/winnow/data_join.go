package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/published"
)

func dataJoinCommand() *cli.Command {
	return &cli.Command{
		Name:      "join",
		Usage:     "give a clean manifest the labels of one of PRISM's noisy lists, the truth kept as true_label",
		ArgsUsage: "MANIFEST LIST",
		Description: "LIST is one of PRISM's released training lists with label noise (lines path,label). Its images are found by\n" +
			"folder and file name among the training images of MANIFEST, whose labels become the true ones. Training images that\n" +
			"LIST does not have are left out; the other splits stay as they are. It is what data import --preset does with --given,\n" +
			"for manifests from elsewhere, as PRISM's own lists without noise:\n\n" +
			"   winnow data import --strip-prefix /data/ CUB_train.csv=train CUB_test.csv=test --out cub.csv\n" +
			"   winnow data join cub.csv CUB_0.2noised_train.csv --out cub-noisy.csv\n\n" +
			"LIST numbers the classes of MANIFEST from 1 in the order of their names, unless these are the numbers themselves; lists\n" +
			"with small-cluster noise number from 0 anew, and each number stands for the class it holds whole.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "manifest `FILE` to write"},
			&cli.BoolFlag{Name: "json", Usage: "print the summary as JSON"},
		},
		Action: dataJoin,
	}
}

// joinResult is what winnow data join --json prints.
type joinResult struct {
	LeftOut  int                  `json:"left_out"` // training images that the list does not have
	Noise    datasets.NoiseReport `json:"train_noise"`
	Warnings []string             `json:"warnings"`
}

func dataJoin(c *cli.Context) error {
	if c.NArg() != 2 {
		return misused("winnow data join: found %d arguments, expected two: a clean manifest and a list of noisy labels", c.NArg())
	}
	if err := keepInput(c, c.Args().Slice()...); err != nil {
		return err
	}
	clean, err := datasets.Read(c.Args().Get(0), datasets.ReadOptions{})
	if err != nil {
		return err
	}
	list, err := givenList(c.Args().Get(1))
	if err != nil {
		return err
	}
	r, err := published.Join(clean, list)
	if err != nil {
		return fmt.Errorf("join: %s: %w", c.Args().Get(1), err)
	}
	if err := writeManifest(c.String("out"), r.Dataset); err != nil {
		return err
	}
	noise := r.Dataset.Noise(datasets.Train)
	if c.Bool("json") {
		return printJSON(c.App.Writer, joinResult{r.NotListed, noise, append([]string{}, r.Warnings...)})
	}
	printCounts(c.App.Writer, r.Dataset)
	if r.NotListed > 0 {
		fmt.Fprintf(c.App.Writer, "%-10s %7d training images, which the list does not have\n", "left out", r.NotListed)
	}
	printNoise(c.App.Writer, datasets.Train, noise)
	for _, text := range r.Warnings {
		fmt.Fprintf(c.App.ErrWriter, "winnow: warning: %s\n", text)
	}
	return nil
}
