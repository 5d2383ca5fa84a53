package list

import (
	"context"
	"embed"
	"io"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/catalog"
)

// printing holds the parsed arguments of "winnow manual" and "winnow completion".
type printing struct {
	App   *cli.App // the commands to describe
	Shell string
	Man   bool
}

// Manual returns the "winnow manual" command.
func Manual() *cli.Command {
	return &cli.Command{
		Name:  "manual",
		Usage: "print the help of all commands as Markdown, or as a manual page: winnow manual --man > winnow.1",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "man", Usage: "print a manual page for man"}},
		Action: term.Action(func(c *cli.Context) (printing, error) {
			return printing{App: c.App, Man: c.Bool("man")}, term.NoArguments(c)
		}, printManual),
	}
}

func printManual(_ context.Context, p *term.Program, o printing) error {
	printed := o.App.ToMarkdown
	if o.Man {
		printed = func() (string, error) { return o.App.ToManWithSection(1) }
	}
	text, err := printed()
	if err != nil {
		return err
	}
	if !o.Man { // the library's text has several first-level headings
		text = "# Commands\n\n" + headings.ReplaceAllString(text, "#$0")
	}
	_, err = io.WriteString(p.Data, text)
	return err
}

// headings matches the start of Markdown headings.
var headings = regexp.MustCompile(`(?m)^#+ `)

//go:embed completion.*
var scripts embed.FS

// Completion returns the "winnow completion" command.
func Completion() *cli.Command {
	return &cli.Command{
		Name: "completion", ArgsUsage: "SHELL",
		Usage: "print a script that completes commands and flags in the shell: bash, zsh, fish",
		Description: "   source <(winnow completion bash)           # for this shell; the same for zsh\n" +
			"   winnow completion fish | source            # for this shell",
		Action: term.Action(func(c *cli.Context) (printing, error) {
			shell, err := term.OneArgument(c, "one of bash, zsh, fish")
			if err == nil {
				err = term.AsMisuse(catalog.Check("completion: shell", shell, "bash", "zsh", "fish"))
			}
			return printing{App: c.App, Shell: shell}, err
		}, printCompletion),
	}
}

func printCompletion(_ context.Context, p *term.Program, o printing) error {
	if o.Shell == "fish" {
		text, err := o.App.ToFishCompletion()
		if err == nil {
			_, err = io.WriteString(p.Data, text)
		}
		return err
	}
	text, err := scripts.ReadFile("completion." + strings.ToLower(o.Shell))
	if err == nil {
		_, err = p.Data.Write(text)
	}
	return err
}
