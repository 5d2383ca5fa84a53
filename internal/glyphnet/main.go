// Command glyphnet trains winnow's smallest backbone, models/glyphnet.onnx, from scratch: a convolutional
// network. It learns to name the Pretrain characters of datasets/glyphs from an endless stream of new
// renderings, and is then cut off at its features. It never sees a character of the dataset.
//
//	go run ./internal/glyphnet -out models/glyphnet.onnx
//
// The network is glyphnet of models/architecture, drawn from the seed. It is trained
// as winnow fine-tunes any backbone: graph/gradient differentiates it, ONNX Runtime runs both passes, and
// train's AdamW updates it. This package has the rest: the images, the classifier, the folding of the trained
// normalisations, the evaluation. Everything is float32 on the CPU; the same seed gives the same file on the
// same machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/internal/atomicfile"
	"winnow/models/architecture"
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
	var s settings
	flags := flag.NewFlagSet("glyphnet", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&s.Steps, "steps", 4000, "training steps")
	flags.IntVar(&s.Batch, "batch", 128, "images a step")
	flags.Float64Var(&s.Rate, "rate", 0.003, "peak of the learning rate")
	flags.Float64Var(&s.Decay, "decay", 0.02, "weight decay")
	flags.Float64Var(&s.Smooth, "smooth", 0.05, "label smoothing")
	flags.Uint64Var(&s.Seed, "seed", 1, "of weights and images")
	found := flags.Bool("found", false, "train on pictures as hard as the dataset's, instead of on printed ones")
	out := flags.String("out", "", "write the model to this file")
	library := flags.String("ort-lib", os.Getenv("WINNOW_ORT_LIB"), "ONNX Runtime's shared library")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *out == "" {
		return errors.New("glyphnet: expected -out FILE and no argument")
	}
	s.Conditions = glyphs.Printed()
	if *found {
		s.Conditions = glyphs.Found()
	}
	rt, err := ort.Open(ort.Config{Library: *library})
	if err != nil {
		return err
	}
	return trainFile(ctx, rt, *out, s, stdout, stderr)
}

// trainFile trains a network, writes it, and prints its P@1 on the validation classes.
func trainFile(ctx context.Context, rt *ort.Runtime, path string, s settings, stdout, stderr io.Writer) error {
	described, err := architecture.Find("glyphnet")
	if err != nil {
		return err
	}
	characters := glyphs.Characters(glyphs.Pretrain)
	data, err := newStream(characters, s.Conditions, s.Seed)
	if err != nil {
		return err
	}
	n, err := newNetwork(rt, described, len(characters), s.Seed)
	if err != nil {
		return err
	}
	defer n.live.Close()
	if err := trainNetwork(ctx, n, data, s, stderr); err != nil {
		return err
	}
	model, err := n.encodeModel()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(path, model); err != nil {
		return err
	}
	e, err := openModel(rt, model)
	if err != nil {
		return err
	}
	p, err := precisionAt1(e, datasets.Validation, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%d steps of %d images of %d characters: P@1 %.4f on the split %s\n", s.Steps, s.Batch,
		len(characters), p, datasets.Validation)
	return nil
}

// openModel loads an existing model.
func openModel(rt *ort.Runtime, model []byte) (embedder, error) {
	input := ort.NetworkInput{Name: inputName, Channels: 1, Height: glyphs.Size, Width: glyphs.Size}
	network, err := ort.NewNetwork(rt, model, outputName, input)
	if err != nil {
		return embedder{}, err
	}
	return embedder{network.Dim(), network.Infer}, nil // stays open until the process ends
}
