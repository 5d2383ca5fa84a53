package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
	"winnow/run/config"
)

func runtimeCommand() *cli.Command {
	return &cli.Command{
		Name:  "runtime",
		Usage: "install and show ONNX Runtime, the library that runs the networks",
		Subcommands: []*cli.Command{
			{
				Name:  "install",
				Usage: "put ONNX Runtime " + ortlib.Version + " into the user's cache folder",
				Description: "Downloads the npm package onnxruntime-node through the npm client (not with --from), checks its\n" +
					"sha256 and unpacks this machine's library. What is already there and intact is left alone. Nothing\n" +
					"else of winnow ever downloads anything. Prints the library's path.",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "from", Usage: "take the library from `PATH` instead of npm: an npm tarball, one of Microsoft's release archives (.tgz, .zip), a folder, or the library itself"},
					&cli.BoolFlag{Name: "cuda", Usage: "the libraries of the CUDA provider too (linux/amd64; CUDA 13 and cuDNN 9 are the system's)"},
					&cli.BoolFlag{Name: "force", Usage: "install again what is already there"},
				},
				Action: installRuntime,
			},
			{
				Name:   "show",
				Usage:  "say which ONNX Runtime is used, and where it was found",
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
				Action: showRuntime,
			},
		},
	}
}

func installRuntime(c *cli.Context) error {
	if c.NArg() > 0 {
		return misused("runtime install: %q is too much: the path belongs after --from", c.Args().First())
	}
	path, err := ortlib.Install(c.Context, ortlib.InstallOptions{
		From:  c.String("from"),
		CUDA:  c.Bool("cuda"),
		Force: c.Bool("force"),
		Note:  func(fact string) { note(c, "%s", fact) },
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, path)
	return nil
}

// runtimeFacts is what `runtime show` and `doctor` say of the library.
type runtimeFacts struct {
	Path      string   `json:"path"`
	Source    string   `json:"source"`
	Version   string   `json:"version"`
	Providers []string `json:"providers"`
}

func showRuntime(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	found, err := findLibrary(c)
	if err != nil {
		return err
	}
	rt, err := ort.Load(ort.Config{Library: found.Path})
	if err != nil {
		return withHint(err, "%s", libraryHint(c))
	}
	facts := runtimeFacts{found.Path, found.Source, rt.Version(), rt.Providers()}
	if c.Bool("json") {
		return printJSON(c.App.Writer, facts)
	}
	fmt.Fprintf(c.App.Writer, "path       %s\nsource     %s\nversion    %s\nproviders  %s\n",
		facts.Path, facts.Source, facts.Version, strings.Join(facts.Providers, ", "))
	return nil
}

// gpuText says in words how a GPU would compute.
func gpuText(g ort.GPU) string {
	memory, tf32 := "memory without limit", "off"
	if g.Memory > 0 {
		memory = "at most " + config.Bytes(g.Memory).Approx() + " of memory a network"
	}
	if g.TF32 {
		tf32 = "on"
	}
	return fmt.Sprintf("%s, TF32 %s, cuDNN search %s", memory, tf32, g.Search)
}
