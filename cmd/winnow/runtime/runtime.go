// Package runtime implements the "winnow runtime" command: it installs and shows ONNX Runtime.
package runtime

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/internal/hint"
	"winnow/internal/ortlib"
)

// Command returns the "winnow runtime" command.
func Command() *cli.Command { return newRuntimeCommand(installRuntime) }

func newRuntimeCommand(install term.Call[ortlib.InstallOptions]) *cli.Command {
	var o ortlib.InstallOptions
	return &cli.Command{
		Name:  "runtime",
		Usage: "install or show ONNX Runtime, the library that runs the networks",
		Subcommands: []*cli.Command{
			{
				Name:  "install",
				Usage: "install ONNX Runtime " + ortlib.Version + " in the user's cache folder",
				Description: "Downloads the npm package onnxruntime-node by the npm client (unless --from is\n" +
					"given), checks its sha256, unpacks this machine's library and prints its path. A library that\n" +
					"is there is kept. Of all commands, only this one and winnow models get download anything.",
				Flags: []cli.Flag{
					term.Flag(&o.From, "from", "take the library from `PATH` instead of npm: an npm tarball, a "+
						"release archive of Microsoft (.tgz), or the library itself"),
					term.Flag(&o.CUDA, "cuda", "also the libraries of the CUDA provider (linux/amd64; the system must "+
						"have CUDA 13 and cuDNN 9)"),
					term.Flag(&o.Force, "overwrite", "replace an installed library"),
				},
				Action: term.BoundAction(&o, func(c *cli.Context, _ *ortlib.InstallOptions) error {
					return term.NoArguments(c)
				}, install),
			},
			{
				Name:   "show",
				Usage:  "show which ONNX Runtime is used, and where it was found",
				Flags:  []cli.Flag{term.JSONFlag()},
				Action: term.Action(readShow, showRuntime),
			},
		},
	}
}

func installRuntime(ctx context.Context, p *term.Program, o ortlib.InstallOptions) error {
	o.Note = func(fact string) { p.Note("%s", fact) }
	path, err := ortlib.Install(ctx, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Out, path)
	return err
}

// library is the ONNX Runtime in use, as winnow runtime show --json prints it.
type library struct {
	Path      string   `json:"path"`
	Source    string   `json:"source"`
	Version   string   `json:"version"`
	Providers []string `json:"providers"`
}

func readShow(c *cli.Context) (asJSON bool, err error) { return c.Bool("json"), term.NoArguments(c) }

func showRuntime(_ context.Context, p *term.Program, asJSON bool) error {
	found, err := p.FindLibrary()
	if err != nil {
		return err
	}
	rt, err := ort.Load(ort.Config{Library: found.Path})
	if err != nil {
		return hint.With(err, "%s", p.LibraryHint(err))
	}
	l := library{Path: found.Path, Source: found.Source, Version: rt.Version(), Providers: rt.Providers()}
	if asJSON {
		return p.JSON(l)
	}
	_, err = fmt.Fprintf(p.Out, "path       %s\nsource     %s\nversion    %s\nproviders  %s\n", l.Path, l.Source,
		l.Version, strings.Join(l.Providers, ", "))
	return err
}
