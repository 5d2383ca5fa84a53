// Package list implements the commands that print references. "winnow list" lists losses, filters, metrics, recipes,
// scorers or architectures, or describes one of them. "winnow manual" prints the help of all commands, and "winnow
// completion" prints completion scripts for shells.
package list

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/catalog"
	"winnow/internal/text"
)

// Command returns the "winnow list" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "list",
		Usage: "list losses, filters, metrics, recipes, scorers or architectures, or describe one",
		Subcommands: []*cli.Command{
			newLossesCommand(),
			newFiltersCommand(),
			newMetricsCommand(),
			newRecipesCommand(),
			newScorersCommand(),
			newArchitecturesCommand(),
		},
	}
}

// Options holds the parsed arguments.
type Options struct {
	Name string // "": all
	JSON bool
}

// Field is a property of an entry. Column reports whether the property is a column of the list.
type Field struct {
	Key, Text string
	Column    bool
}

// Entry is an entry of a catalog, ready to print.
type Entry struct {
	Fields   []Field
	Settings []catalog.Setting
	File     string // text that describes the entry instead of Fields; may be ""
}

// find returns the entry with a name, or all entries if the name is "".
type find func(name string) ([]Entry, error)

// newCommand returns a command that lists the entries of a catalog.
func newCommand(name, usage, description string, find find) *cli.Command {
	var o Options
	return &cli.Command{
		Name: name, Usage: usage, Description: description, ArgsUsage: "[NAME]",
		Flags: []cli.Flag{term.Flag(&o.JSON, "json", "print the result as JSON")},
		Action: term.BoundAction(&o, func(c *cli.Context, o *Options) error {
			if o.Name = c.Args().First(); c.NArg() > 1 {
				return term.Misused("%s: found %d arguments, expected at most one name", c.Command.HelpName, c.NArg())
			}
			_, err := find(o.Name)
			return term.AsMisuse(err)
		}, func(_ context.Context, p *term.Program, o Options) error {
			entries, err := find(o.Name)
			if err != nil {
				return err
			}
			return printEntries(p, o, entries)
		}),
	}
}

func printEntries(p *term.Program, o Options, entries []Entry) error {
	switch {
	case o.JSON:
		out := make([]map[string]any, len(entries))
		for i, e := range entries {
			out[i] = map[string]any{"settings": e.Settings}
			for _, f := range e.Fields {
				out[i][strings.ReplaceAll(f.Key, " ", "_")] = f.Text
			}
		}
		return p.JSON(out)
	case o.Name != "":
		return describeEntry(p.Data, entries[0])
	}
	w := text.NewTable(p.Out)
	for i, e := range entries {
		var head, cells []string
		for _, f := range e.Fields {
			if f.Column {
				head, cells = append(head, strings.ToUpper(f.Key)), append(cells, f.Text)
			}
		}
		if i == 0 {
			w.Row(head...)
		}
		w.Row(cells...)
	}
	return w.Flush()
}

// describeEntry writes all fields and settings of an entry.
func describeEntry(out io.Writer, e Entry) error {
	if e.File != "" {
		_, err := io.WriteString(out, e.File)
		return err
	}
	w := text.NewTable(out)
	for _, f := range e.Fields {
		key := f.Key
		for line := range strings.SplitSeq(f.Text, "\n") {
			if line != "" {
				w.Row(key, line)
			}
			key = ""
		}
	}
	if len(e.Settings) > 0 {
		if err := w.Flush(); err != nil {
			return err
		}
		w = text.NewTable(out)
		w.Row("\nSETTING", "DEFAULT", "RANGE", "MEANING")
	}
	for _, s := range e.Settings {
		name, allowed := s.Name, s.Range()
		if s.Symbol != "" {
			name += " " + s.Symbol
		}
		if len(s.Each) > 0 {
			allowed = "one of"
		}
		w.Row(name, formatValue(s.Default), allowed, s.Doc)
		for i, doc := range s.Each {
			w.Row("", "", "- "+s.Choices[i], doc)
		}
	}
	return w.Flush()
}

// formatValue formats a value as --set accepts it.
func formatValue(value any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
}

// citeSource joins a paper and an equation, which may be "".
func citeSource(paper, equation string) string {
	return strings.TrimSuffix(paper+": "+equation, ": ")
}
