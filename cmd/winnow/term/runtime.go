package term

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/internal/hint"
	"winnow/internal/ortlib"
)

// LibraryHint returns advice for a library that is missing or does not load.
func (p *Program) LibraryHint(err error) string {
	if p.Library != "" {
		return "correct --ort-lib or WINNOW_ORT_LIB, or unset it and " + ortlib.InstallHint
	}
	return ortlib.InstallHint
}

// FindLibrary finds ONNX Runtime's library by --ort-lib or WINNOW_ORT_LIB, otherwise in the default folders.
func (p *Program) FindLibrary() (ortlib.Found, error) {
	found, err := ortlib.Find(p.Library)
	if err != nil {
		err = hint.With(err, "%s", p.LibraryHint(err))
	}
	return found, err
}

// OpenRuntime loads ONNX Runtime with the global flags. The process then also computes matrix products with it. Every
// command that computes must call OpenRuntime first.
func (p *Program) OpenRuntime() (*ort.Runtime, error) { return p.OpenRuntimeThreads(p.Compute.Threads) }

// OpenRuntimeThreads is like [Program.OpenRuntime] with a number of threads per product; 0 means one per core.
func (p *Program) OpenRuntimeThreads(threads int) (*ort.Runtime, error) {
	cfg := p.Compute
	cfg.Threads = threads
	if p.gpuMisuse != nil {
		return nil, p.gpuMisuse
	}
	found, err := p.FindLibrary()
	if err != nil {
		return nil, err
	}
	cfg.Library = found.Path
	rt, err := ort.Open(cfg)
	if err != nil {
		if cfg.Device != "cpu" {
			return nil, hint.With(err,
				"winnow doctor lists missing parts; or compute without a GPU: --device cpu")
		}
		return nil, hint.With(err, "%s", p.LibraryHint(err))
	}
	if rt.Fallback != "" {
		fmt.Fprintf(p.Err, "winnow: %s\n", rt.Fallback)
	}
	return rt, nil
}

// readComputing returns the values of --device, --threads and the GPU flags.
func readComputing(c *cli.Context) (ort.Config, error) {
	cfg := ort.Config{Device: c.String("device"), Threads: c.Int("threads")}
	if _, err := ort.ParseDevice(cfg.Device); err != nil {
		return cfg, Misused("--device: found %q, expected cpu, cuda, cuda:N or auto", cfg.Device)
	}
	if cfg.Threads < 0 {
		return cfg, Misused("--threads: found %d, expected 0 (one per core) or more", cfg.Threads)
	}
	var err error
	cfg.GPU, err = gpuOptions(c)
	return cfg, err
}

// gpuOptions returns the values of --gpu-memory and --tf32.
func gpuOptions(c *cli.Context) (ort.GPU, error) {
	g := ort.GPU{TF32: c.Bool("tf32")}
	if text := c.String("gpu-memory"); text != "" {
		n, err := parseSize(text)
		if err != nil {
			return g, Misused("--gpu-memory: %v", err)
		}
		g.Memory = n
	}
	if err := g.Check(); err != nil {
		return g, Misused("--gpu-memory: %v", err)
	}
	return g, nil
}

// gpuMisused returns an error if GPU flags are given for the CPU.
func gpuMisused(c *cli.Context, cfg ort.Config) error {
	for _, name := range []string{"gpu-memory", "tf32"} {
		if c.IsSet(name) && cfg.Device == "cpu" {
			return Misused("--%s needs a GPU: add --device cuda or --device auto", name)
		}
	}
	return nil
}

// limitThreads applies --threads and --ort-lib to every command, including commands that run no network.
func limitThreads(c *cli.Context) error {
	cfg, err := readComputing(c)
	if err == nil && cfg.Threads > 0 {
		runtime.GOMAXPROCS(cfg.Threads)
	}
	cfg.Library = c.String("ort-lib")
	ort.Prefer(cfg)
	return err
}
