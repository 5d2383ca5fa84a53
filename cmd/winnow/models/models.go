// Package models implements the "winnow models" command, which manages the backbones.
package models

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/run/extraction"
)

// Command returns the "winnow models" command.
func Command() *cli.Command {
	asJSON := term.JSONFlag()
	return &cli.Command{
		Name:  "models",
		Usage: "list, show, download, add, make and remove backbones, the pretrained networks",
		Description: "A backbone is an ONNX file of a network that turns images into vectors. Your backbones are\n" +
			"recorded in models.json in winnow's configuration folder (or in the file that WINNOW_MODELS names).\n" +
			"winnow searches the folders in WINNOW_MODEL_DIRS for the files of its built-in entries.",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list all backbones, recorded and built-in", Flags: []cli.Flag{asJSON},
				Action: term.Action(readNothing, withRegistry(listModels))},
			{Name: "show", Usage: "describe one backbone, by name or file", ArgsUsage: "NAME|FILE",
				Flags: append(
					[]cli.Flag{asJSON},
					term.PreprocessingFlags()...), Action: newNamedAction("one name or file",
					withRegistry(showModel))},
			{Name: "get", Usage: "download a backbone by name, check it and record it", ArgsUsage: "NAME",
				Description: "Downloads only the files that winnow models list marks with get: their sizes and\n" +
					"sha256 are built in. The file is stored next to models.json. After an interrupt or a broken\n" +
					"connection, the same command continues the download. The proxy variables HTTPS_PROXY,\n" +
					"HTTP_PROXY and NO_PROXY are respected.",
				Flags: []cli.Flag{&cli.StringFlag{Name: "from", DefaultText: "its publisher's URL",
					Usage: "read the file from `URL|FILE`, a mirror or a copy; a URL that ends in / is the file's " +
						"folder"},
					&cli.BoolFlag{Name: "accept-licence",
						Usage: "you have read and accept the model's licence (for models that require this)"}, asJSON},
				Action: newNamedAction("one name", withRegistry(getModel))},
			{Name: "add", Usage: "record an ONNX file as a backbone (the file is not copied)", ArgsUsage: "FILE",
				Flags: append([]cli.Flag{&cli.StringFlag{Name: "name",
					Usage: "record it as `NAME`"}, asJSON}, term.PreprocessingFlags()...),
				Action: newNamedAction("one ONNX file", withRegistry(addModel))},
			newCommand(),
			{Name: "remove", Usage: "remove a backbone that you added (its file is kept)", ArgsUsage: "NAME",
				Action: newNamedAction("one name", withRegistry(removeModel))},
		},
	}
}

// Options holds the parsed flags and the argument.
type Options struct {
	Argument, Name, From string // name or file; name to record; source of a download
	Accepted             bool   // the user accepts the model's licence
	Settings             models.Settings
	JSON                 bool
}

func readNothing(c *cli.Context) (Options, error) {
	return Options{JSON: c.Bool("json")}, term.NoArguments(c)
}

// newNamedAction returns the action of a command with one argument, which what describes in errors.
func newNamedAction(what string, call term.Call[Options]) cli.ActionFunc {
	return term.Action(func(c *cli.Context) (Options, error) {
		argument, err := term.OneArgument(c, what)
		return Options{Argument: argument, Name: c.String("name"), From: c.String("from"),
			Accepted: c.Bool("accept-licence"), Settings: term.ModelSettings(c), JSON: c.Bool("json")}, err
	}, call)
}

// withRegistry returns a call that opens the user's registry and passes it to call.
func withRegistry[O any](call func(context.Context, *term.Program, *models.Registry, O) error) term.Call[O] {
	return func(ctx context.Context, p *term.Program, o O) error {
		r, err := models.OpenDefault()
		if err != nil {
			return err
		}
		return call(ctx, p, r, o)
	}
}

func listModels(_ context.Context, p *term.Program, r *models.Registry, o Options) error {
	if o.JSON {
		return p.JSON(r.List())
	}
	return models.WriteList(p.Out, r.List())
}

func showModel(_ context.Context, p *term.Program, r *models.Registry, o Options) error {
	report, err := r.Inspect(o.Argument, o.Settings)
	if err != nil {
		return err
	}
	warnModels(p, report.Warnings...)
	if o.JSON {
		return p.JSON(report)
	}
	return report.Write(p.Out)
}

func getModel(ctx context.Context, p *term.Program, r *models.Registry, o Options) error {
	at, end := p.WatchFrom("MB")
	got, err := extraction.Fetch(ctx, r, o.Argument, extraction.FetchOptions{From: o.From, Accepted: o.Accepted,
		Note: func(fact string) { end(); p.Note("%s", fact) }, Progress: at})
	end()
	if asked, ok := errors.AsType[*extraction.Unaccepted](err); ok {
		return hint.With(err, "read the licence; if you accept it: winnow models get %s --accept-licence", asked.Name)
	}
	if err != nil {
		return err
	}
	return describeBackbone(p, got, o.JSON)
}

func addModel(_ context.Context, p *term.Program, r *models.Registry, o Options) error {
	b, cut, err := r.AddFile(o.Argument, o.Name, o.Settings, extraction.AddBackbone)
	if err != nil {
		return err
	}
	return describeBackbone(p, &extraction.Fetched{Backbone: b, Cut: cut}, o.JSON)
}

func warnModels(p *term.Program, lines ...string) {
	for _, line := range lines {
		fmt.Fprintf(p.Err, "winnow: %s\n", line)
	}
}

// describeBackbone prints an added backbone and its warnings.
func describeBackbone(p *term.Program, got *extraction.Fetched, asJSON bool) error {
	warnModels(p, append(got.Warnings, got.Cut.Warnings...)...)
	if asJSON {
		return p.JSON(got.Entry)
	}
	_, err := fmt.Fprintln(p.Out, got)
	return err
}

func removeModel(_ context.Context, p *term.Program, r *models.Registry, o Options) error {
	if err := r.Remove(o.Argument); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Out, "removed %s from %s\n", o.Argument, r.Path())
	return err
}
