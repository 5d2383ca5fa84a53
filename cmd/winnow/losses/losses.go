// Package losses is winnow losses: it lists the losses, or says all about one.
package losses

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/manual"
	"winnow/losses"
)

// Options choose an entry and the form it is printed in.
type Options struct{ manual.Options }

// Command is winnow losses.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "losses",
		Usage:     "list the losses, or say all about one: formula, settings, paper and equation",
		ArgsUsage: "[NAME]",
		Description: "A loss is chosen with winnow train --loss NAME; NAME:bank compares with the memory bank, NAME:0.5 gives it a\n" +
			"weight, and several are added up: --loss multi_similarity --loss proxy_anchor:0.5. Its settings are set with\n" +
			"--set losses.0.settings.NAME=VALUE, counted in the order of the --loss flags.\n\n" +
			"In the formulas s is the cosine of two vectors, d their distance, D its square; i or a is an anchor, P and N its\n" +
			"positives and negatives; [x]₊ is max(x, 0), mean₊ the mean of the terms above 0, R what the reduction says. Five\n" +
			"papers have numbers: 000 Le & Odobez, 001 PRISM, 002 BSPML, 003 Adapted triplet, 004 SCL-RHE.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.BoolFlag{Name: "markdown", Usage: "the list as the table of the README"},
		},
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (Options, error) {
	o := Options{manual.Options{Name: c.Args().First(), JSON: c.Bool("json"), Markdown: c.Bool("markdown")}}
	if c.NArg() > 1 {
		return o, term.Misused("winnow losses: found %d arguments, expected at most one name", c.NArg())
	}
	if _, err := losses.Find(o.Name); err != nil && o.Name != "" {
		return o, term.AsMisuse(err)
	}
	return o, nil
}

func run(_ context.Context, p *term.Program, o Options) error { return manual.Losses(p.Out, o.Options) }
