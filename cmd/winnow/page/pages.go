package page

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/internal/atomicfile"
)

// pages returns the pages of the program and of all commands, each before those of its subcommands.
func pages(app *cli.App) ([]Page, error) {
	first, err := Find(app, nil)
	if err != nil {
		return nil, err
	}
	all := []Page{first}
	var add func(path []string, c *cli.Command)
	add = func(path []string, c *cli.Command) {
		if c.Hidden || c.Name == "help" && c.Category == "" {
			return
		}
		path = append(path[:len(path):len(path)], c.Name)
		all = append(all, newPage(path, c))
		for _, sub := range c.Subcommands {
			add(path, sub)
		}
	}
	for _, c := range app.Commands {
		add([]string{app.Name}, c)
	}
	return all, nil
}

// Markdown writes docs/cli.md: the long help of every command.
func Markdown(w io.Writer, app *cli.App) error {
	all, err := pages(app)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Commands\n\nThe output of `--help --long` for every command. `winnow manual` prints this " +
		"page, and with " +
		"`--dir` writes manual pages.\n\n")
	for _, p := range all {
		if strings.Count(p.Path, " ") == 1 {
			fmt.Fprintf(&b, "- [`%s`](#%s): %s\n", p.Path, strings.ReplaceAll(p.Path, " ", "-"), p.Usage)
		}
	}
	for _, p := range all {
		b.WriteString("\n## " + p.Path + "\n\n```text\n")
		if err := p.long(&b); err != nil {
			return err
		}
		b.WriteString("```\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// ManPages writes manual pages of the program and of every command into a new folder: winnow.1, winnow-data-import.1.
// It returns their number.
func ManPages(dir string, app *cli.App) (int, error) {
	all, err := pages(app)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	for _, p := range all {
		name := filepath.Join(dir, strings.ReplaceAll(p.Path, " ", "-")+".1")
		if err := atomicfile.Write(name, func(w io.Writer) error { return p.man(w, app.Version) }); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// man writes the page as a manual page, man(7).
func (p Page) man(w io.Writer, version string) error {
	var b strings.Builder
	name := strings.ReplaceAll(p.Path, " ", "-")
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s %s\n.nh\n.ad l\n", quoted(strings.ToUpper(name)), quoted("winnow "+version),
		quoted("winnow"))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escaped(name), escaped(p.Usage))
	b.WriteString(".SH SYNOPSIS\n.B " + escaped(p.Synopsis) + "\n")
	if len(p.Description) > 0 {
		b.WriteString(".SH DESCRIPTION\n")
		for i, part := range p.Description {
			if i > 0 {
				b.WriteString(".PP\n")
			}
			if strings.HasPrefix(part, " ") { // examples and lists keep their lines
				b.WriteString(".nf\n" + lines(part) + ".fi\n")
				continue
			}
			b.WriteString(lines(part))
		}
	}
	manSections(&b, "COMMANDS", p.Commands)
	manSections(&b, "OPTIONS", p.Options)
	_, err := io.WriteString(w, b.String())
	return err
}

func manSections(b *strings.Builder, title string, list []Section) {
	if len(list) == 0 {
		return
	}
	b.WriteString(".SH " + title + "\n")
	for _, s := range list {
		if s.Heading != "" {
			b.WriteString(".SS " + quoted(s.Heading) + "\n")
		}
		for _, r := range s.Rows {
			b.WriteString(".TP\n.B " + escaped(r.Name) + "\n" + lines(r.Text))
		}
	}
}

var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// escaped escapes a text for troff.
func escaped(text string) string { return roff.Replace(text) }

// quoted returns a text as one argument of a macro.
func quoted(text string) string {
	return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"`
}

// lines escapes a text so that no line is a request.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = escaped(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, ".") {
			line = `\&` + line
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
