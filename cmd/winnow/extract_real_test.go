package main

import (
	"archive/zip"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
)

// Photographs of ImageNet through the registry's own entries, run to their 1000 classes: the images found among
// the first one and five are as many as PIL's decoding and another implementation of preprocessing and network find
// (provenance of the reference assets). It takes the very bits: of one photograph SqueezeNet's fifth and sixth logits
// are 14.6279 and 14.6266, and another rounding in the decoder exchanges them. With red and blue exchanged far fewer
// are found of the first five of each class.
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
	some, number := "path,label\n", map[string]int{}
	for _, line := range strings.Split(readFile(t, s.manifest), "\n")[1:] {
		if fields := strings.Split(line, ","); len(fields) > 1 && number[fields[1]] < 5 {
			number[fields[1]]++
			some += fields[0] + "," + fields[1] + "\n"
		}
	}
	few := filepath.Join(dir, "few.csv")
	write(t, few, some)
	isFew := func(p string) bool { return strings.Contains(some, p+",") }
	recognized := func(out, model, manifest string, counts func(path string) bool, more ...string) (top1, top5 int) {
		out = filepath.Join(dir, out)
		s.call(t, append([]string{"extract", "--manifest", manifest, "--root", s.images, "--model", model, "--output", "logits", "--resize", "0", "--out", out}, more...)...)
		store, err := features.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		x, err := store.Read(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range store.Paths {
			if !counts(p) {
				continue
			}
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
	all := func(string) bool { return true }
	for model, want := range map[string][2]int{"googlenet-bvlc": {131, 184}, "squeezenet1.1": {108, 156}} {
		if top1, top5 := recognized(model, model, s.manifest, all); top1 != want[0] || top5 != want[1] {
			t.Errorf("%s: found %d among the first one and %d among the first five, expected %v of 200", model, top1, top5, want)
		}
	}
	right, _ := recognized("squeezenet1.1", "squeezenet1.1", s.manifest, isFew)
	if wrong, _ := recognized("exchanged", "squeezenet1.1", few, isFew, "--channels", "BGR"); wrong >= right-3 || right < 20 {
		t.Errorf("with red and blue exchanged: found %d of 50, expected fewer than the %d found as they are", wrong, right)
	}
}
