// Package papers is winnow papers: what the papers say of label noise, computed, and measured on runs and feature
// stores.
package papers

import (
	"github.com/urfave/cli/v2"
)

// Command is winnow papers.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "papers",
		Usage: "compute what the papers say about label noise, and measure it on your data",
		Description: "theory computes rates and bounds from numbers alone. skew and pairs look at a run, or at a feature store and a\n" +
			"manifest. They change nothing.",
		Subcommands: []*cli.Command{theoryCommand(describe), skewCommand(measureSkew), pairsCommand(compare)},
	}
}
