package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"winnow/backbone/graph"
)

// studio is a small set of images with a small network, a feature store and a trained run.
type studio struct {
	dir, images, manifest, model, store, run string
}

// newStudio makes a studio with winnow's commands; more are additional flags of winnow train.
func newStudio(t testing.TB, more ...string) studio {
	t.Helper()
	needRuntime(t)
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	dir := t.TempDir()
	s := studio{dir, filepath.Join(dir, "images"), filepath.Join(dir, "list.csv"), filepath.Join(dir, "tiny.onnx"),
		filepath.Join(dir, "store"), filepath.Join(dir, "run")}
	write(t, s.model, string(tinyNetwork()))
	s.paint(t)
	mustCall(t, "extract", "--manifest", s.manifest, "--root", s.images, "--model", s.model, "--out", s.store,
		"--preset", "unit", "--resize", "18", "--crop", "16", "--batch", "8")
	mustCall(t, append([]string{"train", "--manifest", s.manifest, "--root", s.images, "--features", s.store, "--out",
		s.run, "--dim", "6", "--batch", "4x4", "--epochs", "3", "--screen", "none"}, more...)...)
	return s
}

// refused runs an export that must fail, see fails.
func (s studio) refused(t testing.TB, code int, want string, args ...string) {
	t.Helper()
	fails(t, code, want, append([]string{"export", s.run}, args...)...)
}

// tinyNetwork returns a network 3×16×16 → 8 maps → mean → 3 classes with random weights.
func tinyNetwork() []byte {
	rng := rand.New(rand.NewPCG(7, 7))
	draw := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(rng.NormFloat64())
		}
		return list
	}
	b := graph.NewBuilder("tiny", 13)
	x := b.Input("image", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(16), graph.Fixed(16)})
	x = b.Node("Conv", []string{x, b.Constant(graph.NewTensor("conv", draw(8*3*3*3), 8, 3, 3, 3)),
		b.Constant(graph.NewTensor("shift", draw(8), 8))})
	x = b.Node("Relu", []string{x})
	x = b.Node("GlobalAveragePool", []string{x})
	x = b.NodeTo("embedding", "Flatten", []string{x}, graph.Int("axis", 1)) // the name of the output in exported models
	x = b.Node("Gemm", []string{x, b.Constant(graph.NewTensor("classes", draw(3*8), 3, 8))}, graph.Int("transB", 1))
	b.Output(x)
	m := b.Model()
	m.Metadata = []graph.Property{{Key: "author", Value: "test"}, {Key: "winnow.version", Value: "older"}}
	return m.Marshal()
}

// paint writes images with one colour per class and noise, and a manifest with mixed splits, an image without a label,
// class names with commas, and a text file with the name of an image.
func (s studio) paint(t testing.TB) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	if err := os.MkdirAll(s.images, 0o755); err != nil {
		t.Fatal(err)
	}
	list := "path,label,split\n"
	for i := range 60 {
		class, split := i%6, "train"
		if class >= 4 {
			split = "test"
		}
		img := image.NewNRGBA(image.Rect(0, 0, 20+i%5, 24))
		for y := range 24 {
			for x := range img.Rect.Dx() {
				level := func(c int) uint8 { return uint8(30*((class*(c+2))%5) + rng.IntN(120)) }
				img.SetNRGBA(x, y, color.NRGBA{level(0), level(1), level(2), 255})
			}
		}
		var file bytes.Buffer
		if err := png.Encode(&file, img); err != nil {
			t.Fatal(err)
		}
		label := fmt.Sprintf(`"red, %d"`, class)
		if i == 12 {
			label = ""
		}
		name := fmt.Sprintf("%02d.png", 59-i) // the manifest is not sorted by path
		if i == 20 {
			file.Reset()
			file.WriteString("not an image")
		}
		write(t, filepath.Join(s.images, name), file.String())
		list += fmt.Sprintf("%s,%s,%s\n", name, label, split)
	}
	write(t, s.manifest, list)
}
