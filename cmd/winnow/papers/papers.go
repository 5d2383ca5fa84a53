// Package papers implements the "winnow papers" command, which computes what the papers state about label noise, or
// measures it on runs and feature stores.
package papers

import (
	"github.com/urfave/cli/v2"
)

// Command returns the "winnow papers" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "papers",
		Usage:       "compute what the papers state about label noise, and measure it on your data",
		Description: "\ntheory computes rates and bounds from numbers. pairs measures a run or a feature store.\n",
		Subcommands: []*cli.Command{theoryCommand(runTheory), pairsCommand(runPairs)},
	}
}
