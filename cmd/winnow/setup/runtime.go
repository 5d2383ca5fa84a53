package setup

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/ortlib"
)

// Runtime returns the "winnow runtime" command.
func Runtime() *cli.Command {
	var o ortlib.InstallOptions
	return &cli.Command{
		Name:  "runtime",
		Usage: "install ONNX Runtime, the library that runs the networks",
		Subcommands: []*cli.Command{
			{
				Name:  "install",
				Usage: "install ONNX Runtime " + ortlib.Version + " in the user's cache folder",
				Description: "Downloads the npm package onnxruntime-node with the npm client (unless --from is\n" +
					"given), checks its sha256, unpacks this machine's library and prints its path. An installed\n" +
					"library is kept. Only this command and winnow models get download files.",
				Flags: []cli.Flag{
					term.Flag(&o.From, "from", "take the library from `PATH` instead of npm: an npm tarball, a "+
						"release archive of Microsoft (.tgz), or the library itself"),
					term.Flag(&o.CUDA, "cuda", "also install the CUDA provider's libraries (linux/amd64; requires "+
						"CUDA 13 and cuDNN 9)"),
					term.Flag(&o.Force, "overwrite", "replace an installed library"),
				},
				Action: term.BoundAction(&o, func(c *cli.Context, _ *ortlib.InstallOptions) error {
					return term.NoArguments(c)
				}, installRuntime),
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
