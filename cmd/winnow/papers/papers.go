// Package papers implements the "winnow papers" command: statements of the papers about label noise,
// computed, or measured on runs and feature stores.
package papers

import (
	"github.com/urfave/cli/v2"
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
