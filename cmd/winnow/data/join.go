package data

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/published"
)

func joinCommand(call term.Call[JoinOptions]) *cli.Command {
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
			"with small-cluster noise start numbering from 0, and each number stands for the class it holds whole.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "manifest `FILE` to write"},
			&cli.BoolFlag{Name: "json", Usage: "print the summary as JSON"},
		},
		Action: term.Action(readJoin, call),
	}
}

// JoinOptions name a clean manifest and a list of noisy labels.
type JoinOptions struct {
	Manifest, List, Out string
	JSON                bool
}

// JoinResult is what winnow data join --json prints.
type JoinResult struct {
	LeftOut  int                  `json:"left_out"` // training images that the list does not have
	Noise    datasets.NoiseReport `json:"train_noise"`
	Warnings []string             `json:"warnings"`
}

func readJoin(c *cli.Context) (JoinOptions, error) {
	if c.NArg() != 2 {
		return JoinOptions{}, term.Misused("winnow data join: found %d arguments, expected two: a clean manifest and a list of noisy labels", c.NArg())
	}
	o := JoinOptions{Manifest: c.Args().Get(0), List: c.Args().Get(1), Out: c.String("out"), JSON: c.Bool("json")}
	return o, term.KeepInput(c, o.Manifest, o.List)
}

func runJoin(ctx context.Context, p *term.Program, o JoinOptions) error {
	clean, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: p.Note})
	if err != nil {
		return err
	}
	list, err := published.ReadListFile(o.List)
	if err != nil {
		return err
	}
	r, err := published.Join(clean, list)
	if err != nil {
		return fmt.Errorf("join: %s: %w", o.List, err)
	}
	if err := datasets.WriteFile(o.Out, r.Dataset); err != nil {
		return err
	}
	noise := r.Dataset.Noise(datasets.Train)
	if o.JSON {
		return p.JSON(JoinResult{r.NotListed, noise, append([]string{}, r.Warnings...)})
	}
	r.Dataset.WriteCounts(p.Out)
	if r.NotListed > 0 {
		fmt.Fprintf(p.Out, "%-10s %7d training images, which the list does not have\n", "left out", r.NotListed)
	}
	noise.Write(p.Out, datasets.Train)
	for _, text := range r.Warnings {
		fmt.Fprintf(p.Err, "winnow: warning: %s\n", text)
	}
	return nil
}
