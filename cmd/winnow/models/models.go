// Package models is winnow models: it lists, shows, adds, makes and removes backbones.
package models

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/text"
	"winnow/models"
)

// Command is winnow models.
func Command() *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "as JSON"}
	return &cli.Command{
		Name:  "models",
		Usage: "list, show, add, make and remove backbones",
		Description: "A backbone is an ONNX file that turns images into vectors. Your own are recorded in models.json in\n" +
			"winnow's configuration folder (or the file WINNOW_MODELS names); files of winnow's own entries are\n" +
			"looked for in the folders of WINNOW_MODEL_DIRS.",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list the backbones winnow knows", Flags: []cli.Flag{asJSON}, Action: term.Action(readNothing, list)},
			{Name: "show", Usage: "say all about one backbone, by name or file", ArgsUsage: "NAME|FILE",
				Flags: append([]cli.Flag{asJSON}, term.PreprocessingFlags()...), Action: named("one name or file", show)},
			{Name: "add", Usage: "record an ONNX file as a backbone (nothing is copied)", ArgsUsage: "FILE",
				Flags:  append([]cli.Flag{&cli.StringFlag{Name: "name", Usage: "`NAME` for it"}, asJSON}, term.PreprocessingFlags()...),
				Action: named("one ONNX file", add)},
			newCommand(makeNew),
			architecturesCommand(),
			{Name: "remove", Usage: "forget a backbone you added (its file stays)", ArgsUsage: "NAME", Action: named("one name", remove)},
		},
	}
}

// Options name a backbone and say how it wants its images.
type Options struct {
	Argument string // name or file
	Name     string // for a file that is added
	Settings models.Settings
	JSON     bool
}

func readNothing(c *cli.Context) (Options, error) {
	return Options{JSON: c.Bool("json")}, term.NoArguments(c)
}

// named is the action of a command with one argument; what is how errors name it.
func named(what string, call term.Call[Options]) cli.ActionFunc {
	return term.Action(func(c *cli.Context) (Options, error) {
		argument, err := term.OneArgument(c, what)
		return Options{Argument: argument, Name: c.String("name"), Settings: term.ModelSettings(c), JSON: c.Bool("json")}, err
	}, call)
}

func list(_ context.Context, p *term.Program, o Options) error {
	r, err := models.OpenDefault()
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(r.List())
	}
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tIMAGES\tFILE\tSOURCE")
	for _, m := range r.List() {
		fmt.Fprintf(w, "%s\t%s %d×%d\t%s\t%s\n", m.Name, m.Preprocessing.Channels, m.Preprocessing.Crop, m.Preprocessing.Crop, m.Place(), text.Shortened(m.Source, 60))
	}
	return w.Flush()
}

func show(_ context.Context, p *term.Program, o Options) error {
	r, err := models.OpenDefault()
	if err != nil {
		return err
	}
	report, err := r.Inspect(o.Argument, o.Settings)
	if err != nil {
		return err
	}
	warn(p, report.Warnings)
	if o.JSON {
		return p.JSON(report)
	}
	return report.Write(p.Out)
}

func warn(p *term.Program, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(p.Err, "winnow: %s\n", line)
	}
}

func add(_ context.Context, p *term.Program, o Options) error {
	r, err := models.OpenDefault()
	if err != nil {
		return err
	}
	b, cut, err := r.AddFile(o.Argument, o.Name, o.Settings)
	if err != nil {
		return err
	}
	warn(p, append(b.Warnings, cut.Warnings...))
	if o.JSON {
		return p.JSON(b.Entry)
	}
	_, err = fmt.Fprintf(p.Out, "added %s: %s, feature %s of %s numbers, %s\n", b.Name, b.Path, cut.Cut, models.Numbers(cut.Dim), b.Preprocessing.Describe())
	return err
}

func remove(_ context.Context, p *term.Program, o Options) error {
	r, err := models.OpenDefault()
	if err != nil {
		return err
	}
	if err := r.Remove(o.Argument); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out, "removed %s from %s\n", o.Argument, r.Path())
	return err
}
