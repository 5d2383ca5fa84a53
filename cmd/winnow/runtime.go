package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"winnow/backbone/ort"
	"winnow/internal/ortlib"
)

func runtimeCommand() *cli.Command { return &cli.Command{Name: "runtime"} }

// installHint is what to do where ONNX Runtime is missing.
const installHint = "run: winnow runtime install"

// findLibrary finds ONNX Runtime's library by --ort-lib or WINNOW_ORT_LIB, else where it usually lies.
func findLibrary(c *cli.Context) (ortlib.Found, error) {
	given := c.String("ort-lib")
	found, err := ortlib.Find(given)
	switch {
	case err != nil && given != "":
		return found, withHint(err, "correct --ort-lib or WINNOW_ORT_LIB, or unset it and %s", installHint)
	case err != nil:
		return found, withHint(err, installHint)
	}
	if found.Source == ortlib.Given {
		found.Source = "--ort-lib"
		if given == os.Getenv("WINNOW_ORT_LIB") {
			found.Source = "WINNOW_ORT_LIB"
		}
	}
	return found, nil
}

// runtimeConfig is the user's --device and --threads, checked.
func runtimeConfig(c *cli.Context) (ort.Config, error) {
	cfg := ort.Config{Device: c.String("device"), Threads: c.Int("threads")}
	if _, err := ort.ParseDevice(cfg.Device); err != nil {
		return cfg, misused("--device: found %q, expected cpu, cuda, cuda:N or auto", cfg.Device)
	}
	if cfg.Threads < 0 {
		return cfg, misused("--threads: found %d, expected 0 (one a core) or more", cfg.Threads)
	}
	return cfg, nil
}

// openRuntime loads ONNX Runtime as the global flags say and puts its matrix product behind blas32, blas64
// and Gorgonia. Every command that computes starts with it.
func openRuntime(c *cli.Context) (*ort.Runtime, error) {
	cfg, err := runtimeConfig(c)
	if err != nil {
		return nil, err
	}
	found, err := findLibrary(c)
	if err != nil {
		return nil, err
	}
	cfg.Library = found.Path
	if cfg.Threads > 0 {
		runtime.GOMAXPROCS(cfg.Threads)
	}
	rt, err := ort.Load(cfg)
	if err != nil {
		return nil, withHint(err, "run: winnow doctor")
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
	// head.UseBLAS(b) goes here: Gorgonia's engine takes the same value.
	return rt, nil
}
