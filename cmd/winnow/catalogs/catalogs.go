// Package catalogs is winnow losses, filters, metrics and recipes: they list a catalog or describe one of its entries.
package catalogs

import (
	"context"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/printable"
	"winnow/internal/text"
)

// Losses is winnow losses.
func Losses() *cli.Command { return lossCatalog.command(lossCatalog.print) }

// Filters is winnow filters.
func Filters() *cli.Command { return filterCatalog.command(filterCatalog.print) }

// Metrics is winnow metrics.
func Metrics() *cli.Command { return metricCatalog.command(metricCatalog.print) }

// Recipes is winnow recipes.
func Recipes() *cli.Command { return recipeCatalog.command(recipeCatalog.print) }

// Options choose an entry of a catalog and the output format.
type Options struct {
	Name           string // "": all
	JSON, Markdown bool
	Resolved       bool // of recipes: without comments, with every default
}

// catalog is a command that lists entries or describes one.
type catalog[E any] struct {
	name, usage, description string

	all      func() []E
	find     func(name string) (E, error)
	head     []string         // columns of the list
	row      func(E) []string // an entry's cells
	json     func(E) any
	markdown func([]E) [][]string // the table in docs, with its head
	describe func(io.Writer, E, Options) error
	resolves bool // has --resolved
}

func (c catalog[E]) command(call term.Call[Options]) *cli.Command {
	out := &cli.Command{
		Name: c.name, Usage: c.usage, Description: c.description, ArgsUsage: "[NAME]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print as JSON"},
			&cli.BoolFlag{Name: "markdown", Usage: "print the list as the table in docs"},
		},
		Action: term.Action(c.read, call),
	}
	if c.resolves {
		out.Flags = append(out.Flags,
			&cli.BoolFlag{Name: "resolved", Usage: "print NAME without comments, with every default filled in"})
	}
	return out
}

func (c catalog[E]) read(ctx *cli.Context) (Options, error) {
	o := Options{Name: ctx.Args().First(), JSON: ctx.Bool("json"), Markdown: ctx.Bool("markdown"),
		Resolved: ctx.Bool("resolved")}
	if ctx.NArg() > 1 {
		return o, term.Misused("%s: found %d arguments, expected at most one name", ctx.Command.HelpName, ctx.NArg())
	}
	if o.Name == "" {
		if o.Resolved {
			return o, term.Misused("%s: --resolved needs a name", ctx.Command.HelpName)
		}
		return o, nil
	}
	_, err := c.find(o.Name)
	return o, term.AsMisuse(err)
}

// print prints one entry or the list of all.
func (c catalog[E]) print(_ context.Context, p *term.Program, o Options) error {
	list := c.all()
	if o.Name != "" {
		e, err := c.find(o.Name)
		if err != nil {
			return err
		}
		switch {
		case o.JSON:
			return p.JSON(c.json(e))
		case !o.Markdown:
			return c.describe(p.Data, e, o)
		}
		list = []E{e}
	}
	switch {
	case o.JSON:
		out := make([]any, len(list))
		for i, e := range list {
			out[i] = c.json(e)
		}
		return p.JSON(out)
	case o.Markdown:
		return writeMarkdown(p.Data, c.markdown(list))
	}
	w := text.NewTable(printable.Fitted(p.Out))
	w.Row(c.head...)
	for _, e := range list {
		w.Row(c.row(e)...)
	}
	return w.Flush()
}

// writeMarkdown writes a table whose first row is the head.
func writeMarkdown(w io.Writer, rows [][]string) error {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
