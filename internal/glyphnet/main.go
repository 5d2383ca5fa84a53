// Command glyphnet trains winnow's smallest backbone, models/glyphnet.onnx, from scratch: a convolutional
// network that learns to name the Pretrain characters of datasets/glyphs, an endless stream of fresh
// renderings, and is then cut off at its features. It never sees a character of the dataset. With -measure
// it trains nothing and evaluates a written model on a split of the dataset.
//
//	go run ./internal/glyphnet -out models/glyphnet.onnx
//	go run ./internal/glyphnet -measure models/glyphnet.onnx -split validation
//
// Everything is float32 on the CPU, matrix products by ONNX Runtime; the same seed gives the same file on the
// same machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/internal/atomicfile"
	"winnow/internal/ortlib"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := settings{WarmUp: 200}
	flags := flag.NewFlagSet("glyphnet", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.Steps, "steps", 4000, "training steps")
	flags.IntVar(&s.Batch, "batch", 128, "images a step")
	flags.Float64Var(&s.Rate, "rate", 0.003, "peak of the learning rate")
	flags.Float64Var(&s.Decay, "decay", 0.02, "weight decay")
	flags.Float64Var(&s.Smooth, "smooth", 0.05, "label smoothing")
	flags.Uint64Var(&s.Seed, "seed", 1, "of weights and images")
	found := flags.Bool("found", false, "train on pictures as hard as the dataset's, instead of on printed ones")
	out := flags.String("out", "", "train and write the model to this file")
	model := flags.String("measure", "", "evaluate this model instead of training")
	split := flags.String("split", datasets.Validation, "split to evaluate on")
	library := flags.String("ort-lib", os.Getenv("WINNOW_ORT_LIB"), "ONNX Runtime's shared library")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || (*out == "") == (*model == "") {
		return errors.New("glyphnet: expected either -out FILE or -measure FILE, and no argument")
	}
	s.Conditions = glyphs.Printed()
	if *found {
		s.Conditions = glyphs.Found()
	}
	rt, err := load(*library)
	if err != nil {
		return err
	}
	if *model != "" {
		return measureFile(rt, *model, *split, stdout)
	}
	return trainFile(ctx, *out, s, stdout, stderr)
}

// load starts ONNX Runtime and serves blas32 with it.
func load(library string) (*ort.Runtime, error) {
	found, err := ortlib.Find(library)
	if err != nil {
		return nil, err
	}
	rt, err := ort.Load(ort.Config{Library: found.Path})
	if err != nil {
		return nil, err
	}
	b, err := rt.BLAS()
	if err != nil {
		return nil, err
	}
	blas32.Use(b)
	return rt, nil
}

// trainFile trains a network, says how good it is on held-out images and on the validation classes, and writes it.
func trainFile(ctx context.Context, path string, s settings, stdout, stderr io.Writer) error {
	characters := glyphs.Characters(glyphs.Pretrain)
	data, err := newStream(characters, s.Conditions, s.Seed)
	if err != nil {
		return err
	}
	m := newNet(glyphs.Size, 1, shape, len(characters), rand.New(rand.NewPCG(s.Seed, 0)))
	if err := train(ctx, m, data, s, stderr); err != nil {
		return err
	}
	model, err := marshal(m, glyphs.Size, 1)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(path, model); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d steps of %d images of %d characters: accuracy on fresh images %.4f\n",
		s.Steps, s.Batch, len(characters), heldOut(m, data.fresh(), 10000))
	r, err := measure(m.embedder(), datasets.Validation, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %v\n", datasets.Validation, r)
	return nil
}

// measureFile evaluates a written model through ONNX Runtime.
func measureFile(rt *ort.Runtime, path, split string, stdout io.Writer) error {
	e, err := openModel(rt, path)
	if err != nil {
		return err
	}
	r, err := measure(e, split, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %v\n", split, r)
	return nil
}

func openModel(rt *ort.Runtime, path string) (embedder, error) {
	model, err := os.ReadFile(path)
	if err != nil {
		return embedder{}, err
	}
	network, err := ort.NewNetwork(rt, model, outputName, ort.NetworkInput{Name: inputName, Channels: 1, Height: glyphs.Size, Width: glyphs.Size})
	if err != nil {
		return embedder{}, fmt.Errorf("%s: %w", path, err)
	}
	return embedder{network.Dim(), network.Infer}, nil // lives as long as the process
}
