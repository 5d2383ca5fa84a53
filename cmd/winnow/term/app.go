package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/line"
	"winnow/features"
	"winnow/internal/catalog"
	"winnow/internal/hint"
	"winnow/internal/interrupt"
	"winnow/internal/printable"
)

// Group is a heading in the list of all commands and the commands under it.
type Group struct {
	Heading  string
	Commands []*cli.Command
}

// Execute runs the command that args name and returns the exit code: 0 done, 1 failed, 2 misused, 130 interrupted,
// 143 terminated.
func Execute(ctx context.Context, groups []Group, args []string, stdout, stderr io.Writer) int {
	out := interrupt.NewWriter(ctx, stdout)
	stdout, stderr = printable.To(out), printable.To(stderr)
	err := runApp(ctx, NewApp(groups, stdout, stderr), args)
	if err == nil && out.Refused() { // not all code that prints checks for errors
		err = ctx.Err()
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		Interrupted(stderr, FromCommand(groups, args))
		return interrupt.Code(ctx)
	}
	fmt.Fprintf(stderr, "winnow: %s\n", err.Error())
	if ctx.Err() != nil { // the error may describe the interrupt in other words
		return interrupt.Code(ctx)
	}
	if advice := cmp.Or(ort.GPUHint(err, hint.Of(err)), adviseByKind(err)); advice != "" {
		fmt.Fprintf(stderr, "winnow: %s\n", advice)
	}
	if _, ok := errors.AsType[UsageError](err); ok {
		return 2
	}
	return 1
}

func runApp(ctx context.Context, app *cli.App, args []string) error {
	switch {
	case len(args) > 0 && args[len(args)-1] == "--generate-bash-completion":
		return printCompletions(app, args[1:len(args)-1])
	case len(args) > 1 && args[1] == "help":
		args = slices.Concat(args[:1], args[2:], []string{"--help"})
	}
	return app.RunContext(ctx, line.FlagsFirst(app, args))
}

// printCompletions prints, for the scripts of winnow completion, the commands that may follow the words, or the flags
// if the last word begins one.
func printCompletions(app *cli.App, words []string) error {
	at := line.Begin(app)
	for _, word := range words {
		at.Pass(word)
	}
	var names []string
	if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-") {
		for _, f := range at.Flags() {
			names = append(names, "--"+f.Names()[0])
		}
	} else {
		for _, c := range at.Commands {
			names = append(names, c.Name)
		}
	}
	_, err := fmt.Fprintln(app.Writer, strings.Join(names, "\n"))
	return err
}

// FromCommand returns args from the name of the command on.
func FromCommand(groups []Group, args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool {
		return slices.ContainsFunc(groups, func(g Group) bool {
			return slices.ContainsFunc(g.Commands, func(c *cli.Command) bool { return c.HasName(a) })
		})
	})
	return args[max(at, 0):]
}

// Interrupted prints that a command was interrupted, and what it saved. args begin with the command's name.
func Interrupted(w io.Writer, args []string) {
	fmt.Fprintln(w, "winnow: interrupted"+saved[args[0]])
}

// NewApp returns the program with these commands.
func NewApp(groups []Group, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:  "winnow",
		Usage: "find the wrong labels of an image data set, and train image embeddings despite them",
		Description: "To begin: winnow doctor checks this machine, winnow quickstart shows everything on drawn\n" +
			"pictures, and winnow audit finds the wrong labels in a folder with one folder of images per class:\n\n" +
			"   winnow audit photos",
		Version:                   Version(),
		Writer:                    stdout,
		ErrWriter:                 stderr,
		UseShortOptionHandling:    true,
		DisableSliceFlagSeparator: true, // a repeated flag's value may hold commas
		Flags:                     globalFlags(),
		ExitErrHandler:            func(*cli.Context, error) {}, // Execute decides the exit code
		OnUsageError:              usageFailed,
		HideHelpCommand:           true,
		CustomAppHelpTemplate:     helpTemplate,
		Before:                    limitThreads,
		Action:                    noCommand,
	}
	for _, g := range groups { // the library sorts the headings by name
		for _, c := range g.Commands {
			c.Category = g.Heading
			makeStrict(c, c.Name)
			app.Commands = append(app.Commands, c)
		}
	}
	groupFlags("winnow", app.Flags)
	return app
}

// globalFlags returns the flags of every command, which may be given before or after its name.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "ort-lib",
			Usage: "shared library `FILE` of ONNX Runtime", EnvVars: []string{"WINNOW_ORT_LIB"}},
		&cli.StringFlag{Name: "device", Value: "cpu",
			Usage: "run networks on `DEVICE`: cpu, cuda, cuda:N, auto", EnvVars: []string{"WINNOW_DEVICE"}},
		&cli.StringFlag{Name: "gpu-memory", DefaultText: "no limit",
			Usage: "limit the GPU memory of one network to `SIZE`: 4GiB, 800MiB"},
		&cli.BoolFlag{Name: "tf32",
			Usage: "let the GPU round products to TF32: faster, but vectors differ from the CPU's"},
		&cli.StringFlag{Name: "precision", Value: features.Float32,
			Usage: "compute vectors of images in `TYPE`: float32 or float16 (a GPU is twice as fast or more, numbers " +
				"keep 3 digits: see extract --check); training stays float32"},
		&cli.IntFlag{Name: "threads", DefaultText: "one per core",
			Usage: "compute with `N` threads", EnvVars: []string{"WINNOW_THREADS"}},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print no progress and no notes"},
	}
}

// makeStrict makes misuse of a command and its subcommands exit with 2, and groups their flags. path is the command's.
func makeStrict(c *cli.Command, path string) {
	c.OnUsageError, c.CustomHelpTemplate = usageFailed, helpTemplate
	asks := func(f cli.Flag) bool { return f.Names()[0] == "overwrite" }
	if slices.ContainsFunc(c.Flags, isOutput) && !slices.ContainsFunc(c.Flags, asks) {
		c.Flags = append(c.Flags, &cli.BoolFlag{Name: "overwrite", Usage: "replace a file that winnow did not write"})
	}
	groupFlags(path, c.Flags)
	if len(c.Subcommands) > 0 {
		if c.Action == nil {
			c.Action = noCommand
		}
		for _, sub := range c.Subcommands {
			makeStrict(sub, path+" "+sub.Name)
		}
		return
	}
	c.HideHelpCommand = true // "help" may be the name of a run folder
	var needed []string
	for _, f := range c.Flags {
		if isFlagRequired(f) {
			needed = append(needed, f.Names()[0])
		}
	}
	c.Before = func(c *cli.Context) error {
		var missing []string
		for _, name := range needed {
			if !c.IsSet(name) {
				missing = append(missing, "--"+name)
			}
		}
		if len(missing) > 0 {
			return Misused("%s: %s missing: see '%s --help'", c.Command.HelpName, strings.Join(missing, ", "),
				c.Command.HelpName)
		}
		return nil
	}
}

// isFlagRequired reports whether a flag is required. It disables the library's check, which would print the whole help
// to standard output and exit with 1, and adds to the help that the flag is required.
func isFlagRequired(f cli.Flag) bool {
	switch f := f.(type) {
	case *cli.StringFlag:
		if f.Required {
			f.Required, f.Usage = false, f.Usage+"; required"
			return true
		}
	case *cli.Float64Flag:
		if f.Required {
			f.Required, f.Usage = false, f.Usage+"; required"
			return true
		}
	}
	return false
}

// usageFailed turns the library's error about flags into a usage error, and suggests the nearest name for an unknown
// flag.
func usageFailed(c *cli.Context, err error, _ bool) error {
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		var known []string
		for _, f := range append(slices.Clone(c.Command.Flags), globalFlags()...) {
			known = append(known, f.Names()...)
		}
		if near := catalog.Nearest(name, known); near != "" {
			err = fmt.Errorf("%w (did you mean --%s?)", err, near)
		}
	}
	return UsageError{Err: err}
}

// noCommand returns the error for a missing or unknown command.
func noCommand(c *cli.Context) error {
	if name := c.Args().First(); name != "" {
		if now := renamed[name]; now != "" && c.Command.HelpName == c.App.Name {
			return Misused("winnow %s is now: winnow %s", name, now)
		}
		var known []string
		for _, sub := range c.Command.VisibleCommands() {
			if sub.Name != "help" {
				known = append(known, sub.Name)
			}
		}
		return Misused("%q is not a command of %s%s, expected %s", name, c.Command.HelpName, catalog.Ask(name, known),
			strings.Join(known, ", "))
	}
	var help any = c.Command
	if c.Command.HelpName == c.App.Name {
		help = c.App
	}
	printHelp(c.App.ErrWriter, helpTemplate, help) // on standard error, as it was not asked for
	return Misused("a command is missing")
}

// renamed are the commands of earlier releases and what they are called now.
var renamed = map[string]string{
	"losses": "list losses", "filters": "list filters", "metrics": "list metrics", "recipes": "list recipes",
	"retrieve": "studio (search by an image), or search", "noise": "audit --rate-only --labels FILE --features DIR",
}
