package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/eval"
	"winnow/run/config"
	"winnow/run/folder"
)

// openedRun is a run folder as commands look at it.
type openedRun struct{ *folder.Run }

// dataFlags choose the state of a run, and name the data where they moved since the training, or other data.
var dataFlags = []cli.Flag{
	&cli.BoolFlag{Name: "last", Usage: "take the last state of the training instead of the one that validation chose"},
	&cli.StringFlag{Name: "manifest", DefaultText: "the one the run was trained on", Usage: "manifest `FILE`"},
	&cli.StringFlag{Name: "features", DefaultText: "the one the run was trained on", Usage: "feature store `DIR`"},
	&cli.StringFlag{Name: "view", Value: backbone.CenterName, Usage: "of stores with several views of each image look at `VIEW` center, or at the mean of all their features"},
	&cli.StringFlag{Name: "root", DefaultText: "the run's", Usage: "`DIR` (or .zip file) that the manifest's paths start from, where images are looked at: fine-tuned runs, export"},
}

// openRunArg opens the run folder that a command is given as its one argument. splits are those whose features it
// will look at, all where none is named: where they must be computed, no others are.
func openRunArg(c *cli.Context, splits ...string) (*openedRun, error) {
	if c.NArg() != 1 {
		return nil, misused("winnow %s takes one run folder, found %d arguments (flags may stand before or after it)", c.Command.Name, c.NArg())
	}
	return openRun(c, c.Args().First(), splits...)
}

// openRun opens a run folder.
func openRun(c *cli.Context, dir string, splits ...string) (*openedRun, error) {
	if v := c.String("view"); v != backbone.CenterName && v != folder.MeanView {
		return nil, misused("--view: found %q, expected %s or %s", v, backbone.CenterName, folder.MeanView)
	}
	r, err := folder.Open(c.Context, dir, folder.Options{
		Last: c.Bool("last"), Manifest: c.String("manifest"), Features: c.String("features"), Root: c.String("root"), View: c.String("view"),
		Splits: splits, For: c.Command.Name, Host: extractionHost(c),
	})
	if err != nil {
		return nil, err
	}
	return &openedRun{r}, nil
}

// parseSize reads a number of bytes: 1GiB, 512MB, 300000.
func parseSize(text string) (int64, error) {
	var b config.Bytes
	if err := b.UnmarshalText([]byte(text)); err != nil || b == 0 {
		return 0, fmt.Errorf("%q is not a size: write for example 1GiB, 512MiB or 200000000", text)
	}
	return int64(b), nil
}

// retrievalOptions reads --k, --max-mem and --count-lonely.
func retrievalOptions(c *cli.Context) (eval.RetrievalOptions, error) {
	opts := eval.RetrievalOptions{CountLonely: c.Bool("count-lonely")}
	for _, text := range strings.Split(c.String("k"), ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || k < 1 {
			return opts, misused("--k: %q is not a number of neighbours, expected 1 or more", text)
		}
		if !slices.Contains(opts.K, k) {
			opts.K = append(opts.K, k)
		}
	}
	var err error
	if opts.MaxMem, err = parseSize(c.String("max-mem")); err != nil {
		return opts, misused("--max-mem: %v", err)
	}
	return opts, nil
}
