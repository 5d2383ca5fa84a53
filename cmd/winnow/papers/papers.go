// Package papers implements the "winnow papers" command: statements of the papers about label noise,
// computed, or measured on runs and feature stores.
package papers

import (
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/papers/pairs"
)

const description = `
theory computes rates and bounds from numbers alone. skew and pairs measure a run, or a feature store with its
manifest. They change nothing.
`

// Command returns the "winnow papers" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "papers",
		Usage:       "compute what the papers say about label noise, and measure it on your data",
		Description: description,
		Subcommands: []*cli.Command{theoryCommand(runTheory), skewCommand(measureSkew), pairsCommand(runPairs)},
	}
}

// readData reads what a command that examines a training's images and batches works on: [RUN] or DataFlags. The flags
// of its batches are bound to o.
func readData(c *cli.Context, o *pairs.BatchOptions) (err error) {
	if c.IsSet("batches") && o.Batches < 1 {
		return term.Misused("--batches: found %d, expected 1 or more", o.Batches)
	}
	if o.Data, err = training.RunOptions(c); err == nil {
		o.Run, err = term.RunOrStore(c)
	}
	return err
}
