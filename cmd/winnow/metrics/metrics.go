// Package metrics is winnow metrics: it lists the metrics, or says all about one.
package metrics

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/eval"
	"winnow/internal/manual"
)

// Options choose an entry and the form it is printed in.
type Options struct {
	Name           string // "" for all
	JSON, Markdown bool
}

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
	o := Options{Name: c.Args().First(), JSON: c.Bool("json"), Markdown: c.Bool("markdown")}
	if c.NArg() > 1 {
		return o, term.Misused("%s: found %d arguments, expected at most one name", c.Command.HelpName, c.NArg())
	}
	if _, err := eval.Find(o.Name); err != nil && o.Name != "" {
		return o, term.AsMisuse(err)
	}
	return o, nil
}

func run(_ context.Context, p *term.Program, o Options) error {
	if o.Name != "" {
		e, err := eval.Find(o.Name)
		if err != nil {
			return err
		}
		if o.JSON {
			return p.JSON(manual.NewMetric(e))
		}
		return manual.WriteMetric(p.Out, manual.NewMetric(e))
	}
	list := make([]manual.Metric, len(eval.Catalog))
	for i, e := range eval.Catalog {
		list[i] = manual.NewMetric(e)
	}
	switch {
	case o.JSON:
		return p.JSON(list)
	case o.Markdown:
		return manual.WriteMetricTable(p.Out, list)
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tNUMBERS\tNEEDS\tCOMMAND\tSOURCE")
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.Labels(), m.Needs, m.Command, term.Shortened(m.Source(), 60))
	}
	return w.Flush()
}
