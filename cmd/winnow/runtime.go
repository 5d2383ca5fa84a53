package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"winnow/backbone/ort"
	"winnow/head"
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

// note tells the user a fact on standard error, unless they asked for quiet.
func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, "winnow: "+format+"\n", args...)
	}
}

// noter is note for rooms that know no command line.
func noter(c *cli.Context) func(format string, args ...any) {
	return func(format string, args ...any) { note(c, format, args...) }
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

// installHint is what to do where ONNX Runtime is missing.
const installHint = "run: winnow runtime install"

// libraryHint is what to do about a library that is missing or does not load.
func libraryHint(c *cli.Context) string {
	if c.String("ort-lib") != "" {
		return "correct --ort-lib or WINNOW_ORT_LIB, or unset it and " + installHint
	}
	return installHint
}

// findLibrary finds ONNX Runtime's library by --ort-lib or WINNOW_ORT_LIB, else where it usually lies.
func findLibrary(c *cli.Context) (ortlib.Found, error) {
	given := c.String("ort-lib")
	found, err := ortlib.Find(given)
	if err != nil {
		return found, withHint(err, "%s", libraryHint(c))
	}
	if found.Source == ortlib.Given {
		found.Source = "--ort-lib"
		if given == os.Getenv("WINNOW_ORT_LIB") {
			found.Source = "WINNOW_ORT_LIB"
		}
	}
	return found, nil
}

// runtimeConfig is the user's --device, --threads and options of the GPU, checked.
func runtimeConfig(c *cli.Context) (ort.Config, error) {
	cfg := ort.Config{Device: c.String("device"), Threads: c.Int("threads")}
	if _, err := ort.ParseDevice(cfg.Device); err != nil {
		return cfg, misused("--device: found %q, expected cpu, cuda, cuda:N or auto", cfg.Device)
	}
	if cfg.Threads < 0 {
		return cfg, misused("--threads: found %d, expected 0 (one a core) or more", cfg.Threads)
	}
	var err error
	cfg.GPU, err = gpuOptions(c)
	return cfg, err
}

// gpuOptions are --gpu-memory, --tf32 and --cudnn-search.
func gpuOptions(c *cli.Context) (ort.GPU, error) {
	g := ort.GPU{TF32: c.Bool("tf32"), Search: ort.ConvSearch(c.String("cudnn-search"))}
	if !slices.Contains(ort.ConvSearches(), g.Search) {
		return g, misused("--cudnn-search: found %q, expected heuristic, exhaustive or default", g.Search)
	}
	if text := c.String("gpu-memory"); text != "" {
		n, err := parseSize(text)
		if err != nil {
			return g, misused("--gpu-memory: %v", err)
		}
		g.Memory = n
	}
	if err := g.Check(); err != nil {
		return g, misused("--gpu-memory: %v", err)
	}
	return g, nil
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

// gpuMisused refuses options of a GPU where none is asked for.
func gpuMisused(c *cli.Context, cfg ort.Config) error {
	for _, name := range []string{"gpu-memory", "tf32", "cudnn-search"} {
		if c.IsSet(name) && cfg.Device == "cpu" {
			return misused("--%s is about a GPU: add --device cuda, or auto", name)
		}
	}
	return nil
}

// limitThreads holds every command to --threads, those that run no network too.
func limitThreads(c *cli.Context) error {
	cfg, err := runtimeConfig(c)
	if err == nil && cfg.Threads > 0 {
		runtime.GOMAXPROCS(cfg.Threads)
	}
	return err
}

// openRuntime loads ONNX Runtime as the global flags say and puts its matrix product behind blas32, blas64
// and Gorgonia. Every command that computes starts with it.
func openRuntime(c *cli.Context) (*ort.Runtime, error) {
	return openRuntimeThreads(c, c.Int("threads"))
}

// openRuntimeThreads is openRuntime for so many threads a product; 0 is one a core.
func openRuntimeThreads(c *cli.Context, threads int) (*ort.Runtime, error) {
	cfg, err := runtimeConfig(c)
	if err != nil {
		return nil, err
	}
	cfg.Threads = threads
	if err := gpuMisused(c, cfg); err != nil {
		return nil, err
	}
	found, err := findLibrary(c)
	if err != nil {
		return nil, err
	}
	cfg.Library = found.Path
	rt, err := ort.Load(cfg)
	if err != nil {
		if cfg.Device != "cpu" {
			return nil, withHint(err, "see what is missing with: winnow doctor; or compute without a GPU: --device cpu")
		}
		return nil, withHint(err, "%s", libraryHint(c))
	}
	if rt.Fallback != "" {
		fmt.Fprintf(c.App.ErrWriter, "winnow: %s\n", rt.Fallback)
	}
	b, err := rt.BLAS()
	if err != nil {
		return nil, err
	}
	blas32.Use(b)
	blas64.Use(b)
	head.UseBLAS(b)
	return rt, nil
}
