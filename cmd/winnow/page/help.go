// Package page writes the help of the program and its commands as text, as Markdown and as manual pages.
package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"winnow/internal/catalog"
)

// Page is the help of the program or of a command.
type Page struct {
	Path     string // winnow data import
	Usage    string // one line
	Synopsis string // winnow data import [options] SOURCE...

	Description []string // paragraphs; examples are indented
	Commands    []Section
	Options     []Section // all, in groups
	Most        []Row     // the options in short help
}

// Section is a heading, "" for none, with rows.
type Section struct {
	Heading string
	Rows    []Row
}

// Row is a flag or a command with its help.
type Row struct {
	Name string // as it is typed: --out DIR, -o DIR
	Text string
}

// newPage returns the help of a command. path are the names that lead to it, beginning with the program's.
func newPage(path []string, c *cli.Command) Page {
	p := Page{Path: strings.Join(path, " "), Usage: c.Usage, Description: paragraphs(c.Description)}
	p.Synopsis = p.Path
	own := strings.Join(path[1:], " ")
	if own == "" {
		own = "winnow"
	}
	shown := visible(c.Flags)
	if len(c.Subcommands) > 0 {
		p.Synopsis += " COMMAND"
		p.Commands = sections(c.Subcommands)
	}
	if len(shown) > 0 {
		p.Synopsis += " [options]"
	}
	if c.ArgsUsage != "" {
		p.Synopsis += " " + c.ArgsUsage
	}
	rows := make(map[string]Row, len(shown))
	for _, f := range shown {
		rows[f.Names()[0]] = flagRow(f)
	}
	rest := slices.Clone(shown)
	take := func(names []string) (taken []Row) {
		for _, name := range names {
			if row, ok := rows[name]; ok && !slices.ContainsFunc(taken, func(r Row) bool { return r == row }) {
				taken = append(taken, row)
				rest = slices.DeleteFunc(rest, func(f cli.Flag) bool { return f.Names()[0] == name })
			}
		}
		return taken
	}
	if most, ok := named(own, mostUsed); ok {
		p.Most = take(most)
	}
	rest = slices.Clone(shown)
	for _, g := range groups()[own] {
		if g.heading != mostUsed {
			p.Options = append(p.Options,
				Section{g.heading, take(slices.DeleteFunc(slices.Clone(g.flags), func(name string) bool {
					// it is in an earlier group
					return !slices.ContainsFunc(rest, func(f cli.Flag) bool { return f.Names()[0] == name })
				}))})
		}
	}
	if len(rest) > 0 {
		last := Section{Heading: "others"}
		if len(p.Options) == 0 {
			last.Heading = ""
		}
		for _, f := range rest {
			last.Rows = append(last.Rows, rows[f.Names()[0]])
		}
		p.Options = append(p.Options, last)
	}
	if p.Most == nil {
		for _, s := range p.Options {
			p.Most = append(p.Most, s.Rows...)
		}
	}
	return p
}

// Find returns the help of the program, or of the command at the path, which does not begin with the program's name.
func Find(app *cli.App, path []string) (Page, error) {
	whole := []string{app.Name}
	c := &cli.Command{Usage: app.Usage, Description: app.Description, Subcommands: app.Commands,
		Flags: append(slices.Clone(app.Flags),
			&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "print this help; with --long everything"},
			&cli.BoolFlag{Name: "version", Aliases: []string{"v"}, Usage: "print the version"})}
	for _, name := range path {
		at := slices.IndexFunc(c.Subcommands, func(sub *cli.Command) bool { return sub.HasName(name) })
		if at < 0 {
			var known []string
			for _, sub := range c.Subcommands {
				known = append(known, sub.Name)
			}
			return Page{}, fmt.Errorf("%q is not a command of %s%s", name, strings.Join(whole, " "),
				catalog.Ask(name, known))
		}
		c = c.Subcommands[at]
		whole = append(whole, c.Name)
	}
	page := newPage(whole, c)
	if len(path) == 0 {
		page.Commands = append(page.Commands, Section{"Topics of winnow help", topics})
	}
	return page, nil
}

// visible returns the flags that help shows.
func visible(flags []cli.Flag) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool {
		v, ok := f.(cli.VisibleFlag)
		return ok && !v.IsVisible()
	})
}

// sections groups commands under their headings.
func sections(commands []*cli.Command) (list []Section) {
	for _, c := range commands {
		if c.Hidden || c.Name == "help" && c.Category == "" { // the library's own
			continue
		}
		at := slices.IndexFunc(list, func(s Section) bool { return s.Heading == c.Category })
		if at < 0 {
			at = len(list)
			list = append(list, Section{Heading: c.Category})
		}
		list[at].Rows = append(list[at].Rows, Row{c.Name, c.Usage})
	}
	return list
}

// flagRow returns a flag as it is typed and its help with the default, if any.
func flagRow(f cli.Flag) Row {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return Row{Name: "--" + f.Names()[0]}
	}
	usage := documented.GetUsage()
	value, _ := Placeholder(f)
	usage = strings.ReplaceAll(usage, "`", "")
	var names []string
	for _, name := range f.Names() {
		dashes := "--"
		if utf8.RuneCountInString(name) == 1 {
			dashes = "-"
		}
		names = append(names, strings.TrimSpace(dashes+name+" "+value))
	}
	if s, ok := f.(cli.DocGenerationSliceFlag); ok && s.IsSliceFlag() && !strings.Contains(usage, "repeat") {
		usage += "; may be repeated"
	}
	if text := Default(f); text != "" {
		usage += " (default: " + text + ")"
	}
	if e := documented.GetEnvVars(); len(e) > 0 {
		usage += " [$" + strings.Join(e, ", $") + "]"
	}
	return Row{strings.Join(names, ", "), usage}
}

// Placeholder returns the name of a flag's value in its help, as FILE in --config FILE; "" for switches. If the help
// has no such name, it returns VALUE and false; a test refuses such a flag.
func Placeholder(f cli.Flag) (string, bool) {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok || !documented.TakesValue() {
		return "", true
	}
	parts := strings.SplitN(documented.GetUsage(), "`", 3)
	if len(parts) < 3 || parts[1] == "" {
		return "VALUE", false
	}
	return parts[1], true
}

// Default returns a flag's default as help shows it; "" for required flags, for switches and without a default.
func Default(f cli.Flag) string {
	documented, ok := f.(cli.DocGenerationFlag)
	if !ok || !documented.TakesValue() || strings.Contains(documented.GetUsage(), "; required") {
		return ""
	}
	if text := strings.Trim(documented.GetDefaultText(), `"`); text != "0" {
		return text
	}
	return ""
}

// paragraphs splits a description at empty lines. Lines that begin with spaces are examples or lists and keep their
// breaks.
func paragraphs(description string) (list []string) {
	for _, part := range strings.Split(description, "\n\n") {
		if part = strings.Trim(part, "\n"); strings.TrimSpace(part) != "" {
			list = append(list, part)
		}
	}
	return list
}

// isExample reports whether a paragraph shows command lines.
func isExample(paragraph string) bool { return strings.HasPrefix(paragraph, "   winnow ") }
