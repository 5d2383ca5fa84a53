package main

import (
	"archive/zip"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/reference"
)

// Photographs of ImageNet through the registry's own entries, run to their 1000 classes: the images found among
// the first one and five are as many as PIL's decoding and another implementation of preprocessing and network find
// (provenance of the reference assets). It takes the very bits: of one photograph SqueezeNet's fifth and sixth logits
// are 14.6279 and 14.6266, and another rounding in the decoder exchanges them. With red and blue exchanged far fewer
// are found.
func TestExtractRecognizes(t *testing.T) {
	needRuntime(t)
	photos, err := zip.OpenReader(reference.Asset(t, "data/imagenette-val-sample.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer photos.Close()
	classes := map[string]int{} // of each synset
	for i, line := range strings.Split(strings.TrimSpace(readFile(t, reference.Asset(t, "models/imagenet_synset_words.txt"))), "\n") {
		synset, _, _ := strings.Cut(line, " ")
		classes[synset] = i
	}
	dir := t.TempDir()
	s := studio{dir: dir, images: filepath.Join(dir, "images"), manifest: filepath.Join(dir, "list.csv")}
	s.unpack(t, &photos.Reader, 20)
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", filepath.Dir(reference.Asset(t, "models/squeezenet1.1.onnx")))
	recognized := func(out, model string, more ...string) (top1, top5 int) {
		out = filepath.Join(dir, out)
		s.call(t, append([]string{"extract", "--manifest", s.manifest, "--root", s.images, "--model", model, "--output", "logits", "--resize", "0", "--out", out}, more...)...)
		store, err := features.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		x, err := store.Read(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range store.Paths {
			row, better := features.Row(x, i), 0
			for _, v := range row {
				if v > row[classes[path.Dir(p)]] {
					better++
				}
			}
			if better < 1 {
				top1++
			}
			if better < 5 {
				top5++
			}
		}
		return top1, top5
	}
	for model, want := range map[string][2]int{"googlenet-bvlc": {131, 184}, "squeezenet1.1": {108, 156}} {
		if top1, top5 := recognized(model, model); top1 != want[0] || top5 != want[1] {
			t.Errorf("%s: found %d among the first one and %d among the first five, expected %v of 200", model, top1, top5, want)
		}
	}
	if top1, _ := recognized("exchanged", "squeezenet1.1", "--channels", "BGR"); top1 > 100 {
		t.Errorf("with red and blue exchanged: found %d, expected fewer than 108", top1)
	}
}
