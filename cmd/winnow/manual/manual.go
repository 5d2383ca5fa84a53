// Package manual is winnow help, winnow manual and winnow completion.
package manual

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/page"
	"winnow/cmd/winnow/term"
)

// Options are those of the three commands.
type Options struct {
	App   *cli.App // has the commands to describe
	About []string // a topic or a command, or none; a shell
	Long  bool
	Dir   string // of manual pages; "": print the page in docs
}

func read(c *cli.Context) (Options, error) {
	return Options{c.App, c.Args().Slice(), c.Bool("long"), c.String("dir")}, nil
}

// Help is winnow help.
func Help() *cli.Command {
	return &cli.Command{
		Name: "help", ArgsUsage: "[COMMAND | TOPIC]",
		Usage:  "explain a command, or a topic: " + strings.Join(page.Topics(), ", "),
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "long", Usage: "show everything about a command"}},
		Action: term.Action(read, help),
	}
}

func help(_ context.Context, p *term.Program, o Options) error {
	if len(o.About) == 1 && slices.Contains(page.Topics(), o.About[0]) {
		return page.WriteTopic(p.Out, o.About[0])
	}
	about, err := page.Find(o.App, o.About)
	if err != nil {
		return term.Misused("%v; topics: %s", err, strings.Join(page.Topics(), ", "))
	}
	return about.Write(p.Out, o.Long)
}

// Manual is winnow manual.
func Manual() *cli.Command {
	return &cli.Command{
		Name:  "manual",
		Usage: "print the help of all commands as Markdown, or write manual pages for man",
		Flags: []cli.Flag{&cli.StringFlag{Name: "dir",
			Usage: "write winnow.1, winnow-train.1 and so on to a new `DIR`"}},
		Action: term.Action(read, pages),
	}
}

func pages(_ context.Context, p *term.Program, o Options) error {
	switch {
	case len(o.About) > 0:
		return term.Misused("winnow manual: found the argument %q, expected none", o.About[0])
	case o.Dir == "":
		return page.Markdown(p.Out, o.App)
	}
	n, err := page.ManPages(o.Dir, o.App)
	if err == nil {
		_, err = fmt.Fprintf(p.Out, "%s: %d manual pages; to read one: man %s/winnow.1\n", o.Dir, n,
			strings.TrimRight(o.Dir, "/"))
	}
	return err
}

// Completion is winnow completion.
func Completion() *cli.Command {
	return &cli.Command{
		Name: "completion", ArgsUsage: "SHELL",
		Usage: "print a script that completes commands, flags and their values in the shell: " +
			strings.Join(shells, ", "),
		Description: "   source <(winnow completion bash)           # for this shell; zsh likewise\n" +
			"   winnow completion fish | source            # for this shell\n\n" +
			"The script's first lines say where to put it for every new shell.",
		Action: term.Action(read, func(_ context.Context, p *term.Program, o Options) error {
			if len(o.About) != 1 {
				return term.Misused("winnow completion: found %d arguments, expected one of %s", len(o.About),
					strings.Join(shells, ", "))
			}
			text, err := script(o.About[0])
			if err == nil {
				_, err = io.WriteString(p.Data, text)
			}
			return term.AsMisuse(err)
		}),
	}
}
