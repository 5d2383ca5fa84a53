// Package catalogs is winnow losses and winnow metrics: each lists a catalog or describes one of its entries.
package catalogs

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/eval"
	"winnow/losses"
)

// Losses is winnow losses.
func Losses() *cli.Command { return lossesCommand(printing(writeLosses)) }

// Metrics is winnow metrics.
func Metrics() *cli.Command { return metricsCommand(printing(writeMetrics)) }

func printing(list func(io.Writer, Options) error) term.Call[Options] {
	return func(_ context.Context, p *term.Program, o Options) error { return list(p.Out, o) }
}

func lossesCommand(call term.Call[Options]) *cli.Command {
	return command(call, func(name string) error { _, err := losses.Find(name); return err }, &cli.Command{
		Name:  "losses",
		Usage: "list the losses, or describe one: formula, settings, paper and equation",
		Description: "winnow train --loss NAME chooses a loss. NAME:bank compares with the memory bank,\n" +
			"NAME:0.5 has a weight, and several losses are added: --loss multi_similarity --loss\n" +
			"proxy_anchor:0.5. Its settings are set by --set losses.0.settings.NAME=VALUE, numbered in the\n" +
			"order of the --loss flags.\n\n" +
			"In the formulas s is the cosine of two vectors, d their distance, D its square; i or a is an anchor,\n" +
			"P and N are its positives and negatives; [x]₊ is max(x, 0), mean₊ the mean of the terms above 0, R the\n" +
			"reduction. Five papers have numbers: 000 Le & Odobez, 001 PRISM, 002 BSPML, 003 Adapted triplet,\n" +
			"004 SCL-RHE.",
	})
}

func metricsCommand(call term.Call[Options]) *cli.Command {
	return command(call, func(name string) error { _, err := eval.Find(name); return err }, &cli.Command{
		Name:  "metrics",
		Usage: "list the metrics, or describe one",
		Description: "The metrics of winnow eval --metrics and of the audit: formula, settings with defaults,\n" +
			"paper and equation.",
	})
}

// command adds what the two commands share. find returns an error for a name that is not in the catalog.
func command(call term.Call[Options], find func(name string) error, c *cli.Command) *cli.Command {
	c.ArgsUsage = "[NAME]"
	c.Flags = []cli.Flag{
		&cli.BoolFlag{Name: "json", Usage: "print as JSON"},
		&cli.BoolFlag{Name: "markdown", Usage: "print the list as the table in docs"},
	}
	c.Action = term.Action(func(c *cli.Context) (Options, error) {
		o := Options{Name: c.Args().First(), JSON: c.Bool("json"), Markdown: c.Bool("markdown")}
		if c.NArg() > 1 {
			return o, term.Misused("%s: found %d arguments, expected at most one name", c.Command.HelpName, c.NArg())
		}
		if o.Name == "" {
			return o, nil
		}
		return o, term.AsMisuse(find(o.Name))
	}, call)
	return c
}
