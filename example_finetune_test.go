package winnow_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/datasets"
	"winnow/eval"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/models/architecture"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

// drawImages writes images of stripes, whose direction depends on the class, and their manifest.
func drawImages(dir string) {
	manifest := "path,label,split\n"
	for i := range 48 {
		m := image.NewGray(image.Rect(0, 0, 28, 28))
		for at := range m.Pix {
			x, y := at%28, at/28
			m.Pix[at] = color.Gray{uint8(60 * ([]int{x, y, x + y, x - y + 28}[i%4] / 3 % 3))}.Y + uint8(i)
		}
		name := fmt.Sprintf("%d.png", i)
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			log.Fatal(err)
		}
		if err := png.Encode(f, m); err != nil {
			log.Fatal(err)
		}
		f.Close()
		manifest += fmt.Sprintf("%s,stripes%d,%s\n", name, i%4, []string{"train", "train", "test"}[i/16])
	}
	if err := os.WriteFile(filepath.Join(dir, "stripes.csv"), []byte(manifest), 0o600); err != nil {
		log.Fatal(err)
	}
}

// Trains all weights of a small ONNX model together with a head. This needs ONNX Runtime.
func Example_finetune() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "winnow")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	drawImages(dir)
	net, err := architecture.Find("lenet5")
	if err != nil {
		log.Fatal(err)
	}
	network := net.Model(1)
	network.Metadata = append(network.Metadata,
		graph.Property{Key: models.PreprocessingKey, Value: net.Preprocessing.Key()})
	if err := os.WriteFile(filepath.Join(dir, "lenet5.onnx"), network.Marshal(), 0o600); err != nil {
		log.Fatal(err)
	}

	cfg := config.Default()
	model := filepath.Join(dir, "lenet5.onnx")
	cfg.Data = config.Data{Manifest: filepath.Join(dir, "stripes.csv"), Root: dir, Model: model}
	cfg.Finetune.Weights = config.AllWeights
	cfg.Filter.Scorer = config.NoFilter
	cfg.Head.Out, cfg.Length = 8, config.LastsSteps(10)
	cfg.Sampler.Classes, cfg.Sampler.Images = 4, 4
	out, err := run.Train(ctx, cfg, run.Input{}, run.Options{Dir: filepath.Join(dir, "run")})
	if err != nil {
		log.Fatal(err)
	}

	trained, err := folder.Open(ctx, filepath.Join(dir, "run"), folder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	embedded, _, err := trained.Samples(context.Background(), trained.Manifest.Select(datasets.Test))
	if err != nil {
		log.Fatal(err)
	}
	r, err := eval.Retrieve(ctx, embedded, nil, eval.RetrievalOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d steps, %d tensors of the network, P@1 %.1f of %d images\n",
		out.Summary.Steps, out.Summary.FineTuned.Tensors, r.PrecisionAt1, r.N)
}

// This test runs the example only if ONNX Runtime is installed, because an example itself cannot be skipped.
func TestExampleFinetune(t *testing.T) {
	orttest.Runtime(t)
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout = w
	Example_finetune()
	w.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if want := "10 steps, 6 tensors of the network, P@1 1.0 of 16 images"; strings.TrimSpace(string(out)) != want {
		t.Errorf("found %s, expected %s", out, want)
	}
}
