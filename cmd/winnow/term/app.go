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
	"winnow/internal/catalog"
	"winnow/internal/hint"
	"winnow/internal/interrupt"
	"winnow/internal/printable"
)

// Execute runs a command line. Exit codes: 0 success, 1 failure, 2 misuse, 130 interrupted, 143 terminated.
func Execute(ctx context.Context, commands []*cli.Command, args []string, stdout, stderr io.Writer) int {
	out := interrupt.NewWriter(ctx, stdout)
	stdout, stderr = printable.To(out), printable.To(stderr)
	err := runApp(ctx, NewApp(commands, stdout, stderr), args)
	if err == nil && out.Refused() { // not all code that prints checks the error of the writer
		err = ctx.Err()
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		Interrupted(stderr, FromCommand(commands, args))
		return interrupt.Code(ctx)
	}
	fmt.Fprintf(stderr, "winnow: %s\n", err.Error())
	if ctx.Err() != nil { // the error may be a consequence of the interrupt
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
	case len(args) > 1 && args[len(args)-1] == "--generate-bash-completion": // the library expects it last
		if word := args[len(args)-2]; strings.HasPrefix(word, "-") { // an incomplete flag, read from os.Args
			args = append(args[:len(args)-2:len(args)-2], args[len(args)-1])
		}
		return app.RunContext(ctx, args)
	case len(args) > 1 && args[1] == "help":
		args = slices.Concat(args[:1], args[2:], []string{"--help"})
	case len(args) > 1 && args[1] == "review":
		words := renameReview(args[2:])
		fmt.Fprintf(app.ErrWriter, "winnow: winnow review is now: winnow %s\n", words[0])
		args = slices.Concat(args[:1], strings.Fields(words[0]), words[1:])
	}
	return app.RunContext(ctx, FlagsFirst(app, args))
}

// FromCommand returns args without the words before the command's name.
func FromCommand(commands []*cli.Command, args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool { return findCommand(commands, a) != nil })
	return args[max(at, 0):]
}

// Interrupted prints that a command was interrupted, and which work it has saved. args[0] is the command's name.
func Interrupted(w io.Writer, args []string) {
	if by := continues.Load(); by != nil && *by != "" {
		fmt.Fprintf(w, "winnow: interrupted; to continue: %s\n", *by)
		return
	}
	fmt.Fprintln(w, "winnow: interrupted"+saved[args[0]])
}

// NewApp returns the command-line application with the commands.
func NewApp(commands []*cli.Command, stdout, stderr io.Writer) *cli.App {
	for _, c := range commands {
		makeStrict(c)
	}
	return &cli.App{
		Name:  "winnow",
		Usage: "find label errors in image datasets, and train image embeddings on noisy labels",
		Description: "To start: winnow doctor checks this machine, winnow quickstart is a demonstration on drawn\n" +
			"images, and winnow audit finds label errors in a folder with one folder of images per class:\n\n" +
			"   winnow audit photos",
		Version:                   Version(),
		Commands:                  commands,
		Writer:                    stdout,
		ErrWriter:                 stderr,
		EnableBashCompletion:      true,
		UseShortOptionHandling:    true,
		DisableSliceFlagSeparator: true, // the value of a repeated flag may contain commas
		Flags:                     globalFlags(),
		ExitErrHandler:            func(*cli.Context, error) {}, // Execute decides the exit code
		OnUsageError:              suggestFlag,
		HideHelpCommand:           true,
		Before:                    limitThreads,
		Action:                    refuseCommand,
	}
}

// globalFlags returns the flags of all commands. They may be given before or after the command's name.
func globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "ort-lib",
			Usage: "shared library `FILE` of ONNX Runtime", EnvVars: []string{"WINNOW_ORT_LIB"}},
		&cli.StringFlag{Name: "device", Value: "cpu",
			Usage: "run networks on `DEVICE`: cpu, cuda, cuda:N, auto", EnvVars: []string{"WINNOW_DEVICE"}},
		&cli.StringFlag{Name: "gpu-memory", DefaultText: "no limit",
			Usage: "limit the GPU memory of one network to `SIZE`: 4GiB, 800MiB"},
		&cli.BoolFlag{Name: "tf32",
			Usage: "let the GPU compute products in TF32: faster, but vectors differ from the CPU's"},
		&cli.IntFlag{Name: "threads", DefaultText: "one per core",
			Usage: "compute with `N` threads", EnvVars: []string{"WINNOW_THREADS"}},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print no progress and no notes"},
	}
}

// makeStrict makes a command and its subcommands return usage errors, and adds --overwrite to commands with outputs.
func makeStrict(c *cli.Command) {
	c.OnUsageError, c.HideHelpCommand = suggestFlag, true // a run folder may be named "help"
	asks := func(f cli.Flag) bool { return f.Names()[0] == "overwrite" }
	if slices.ContainsFunc(c.Flags, isOutput) && !slices.ContainsFunc(c.Flags, asks) {
		c.Flags = append(c.Flags, &cli.BoolFlag{Name: "overwrite", Usage: "replace existing files"})
	}
	if len(c.Subcommands) > 0 && c.Action == nil {
		c.Action = refuseCommand
	}
	for _, sub := range c.Subcommands {
		makeStrict(sub)
	}
}

// suggestFlag converts the library's error about a flag to a usage error, and suggests a name for an unknown flag.
func suggestFlag(c *cli.Context, err error, _ bool) error {
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

// refuseCommand returns the error for a missing or unknown command.
func refuseCommand(c *cli.Context) error {
	var known []string
	for _, sub := range c.Command.Subcommands {
		known = append(known, sub.Name)
	}
	list := strings.Join(known, ", ")
	if name := c.Args().First(); name != "" {
		if now := renamed[name]; now != "" && c.Command.HelpName == c.App.HelpName {
			return Misused("winnow %s is now: winnow %s", name, now)
		}
		return Misused("%q is not a command of %s%s, expected %s", name, c.Command.HelpName, catalog.Ask(name, known),
			list)
	}
	return Misused("%s: a command is missing, expected %s", c.Command.HelpName, list)
}

// renamed maps commands of earlier versions to their new names.
var renamed = map[string]string{
	"losses": "list losses", "filters": "list filters", "metrics": "list metrics", "recipes": "list recipes",
	"retrieve": "studio (search by an image), or search", "noise": "audit --rate-only --labels FILE --features DIR",
}

// renameReview returns the new command for the flags of the last release's "winnow review", followed by its words.
func renameReview(words []string) []string {
	if at := slices.Index(words, "--export"); at >= 0 {
		return append([]string{"decisions export"}, slices.Delete(slices.Clone(words), at, at+1)...)
	}
	return append([]string{"studio"}, words...)
}

// helpWidth is the width of help texts in columns.
const helpWidth = 124

func init() { // the library has one help printer for the whole process
	cli.HelpPrinter = func(w io.Writer, template string, data any) {
		cli.HelpPrinterCustom(w, template, data, map[string]any{"wrapAt": func() int { return helpWidth }})
	}
	usual := cli.FlagStringer
	cli.FlagStringer = func(f cli.Flag) string { // the flag on one line, and its help on the next
		return strings.NewReplacer("\t", "\n", " (default: false)", "", " (default: 0)", "").Replace(usual(f))
	}
}
