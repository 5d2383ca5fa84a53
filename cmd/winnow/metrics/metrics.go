// Package metrics is winnow metrics: it lists the metrics, or says all about one.
package metrics

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/eval"
	"winnow/internal/manual"
)

// Options choose an entry and the form it is printed in.
type Options struct{ manual.Options }

// Command is winnow metrics.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "metrics",
		Usage:     "list the metrics, or say all about one",
		ArgsUsage: "[NAME]",
		Description: "What winnow eval --metrics takes, and what the audit measures: formula, settings with their defaults,\n" +
			"paper and equation.",
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
		return o, term.Misused("%s: found %d arguments, expected at most one name", c.Command.HelpName, c.NArg())
	}
	if _, err := eval.Find(o.Name); err != nil && o.Name != "" {
		return o, term.AsMisuse(err)
	}
	return o, nil
}

func run(_ context.Context, p *term.Program, o Options) error {
	return manual.Metrics(p.Out, o.Options)
}
