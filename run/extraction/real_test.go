package extraction_test

import (
	"archive/zip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
	"winnow/models"
	"winnow/run/extraction"
)

// extracted returns what a network of the reference assets makes of images.
func extracted(t *testing.T, root fs.FS, paths []string, model string, settings models.Settings) blas32.General {
	t.Helper()
	orttest.Runtime(t)
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", filepath.Dir(reference.Asset(t, "models/"+model+".onnx")))
	e := &extraction.Extraction{Out: filepath.Join(t.TempDir(), "store"), Paths: paths, Root: root}
	var err error
	if e.Model, e.Cut, err = extraction.OpenBackbone(model, settings); err != nil {
		t.Fatal(err)
	}
	e.Config.Preprocessing = e.Model.Preprocessing
	store, err := e.Store(t.Context(), extraction.Host{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := store.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// archive opens a zip file of the reference assets.
func archive(t *testing.T, name string) *zip.ReadCloser {
	t.Helper()
	z, err := zip.OpenReader(reference.Asset(t, "data/"+name+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	return z
}

// Photographs of ImageNet through the registry's own entries, run to their 1000 classes: the images found among
// the first one and five are as many as PIL's decoding and another implementation of preprocessing and network find
// (provenance of the reference assets). It takes the very bits: of one photograph SqueezeNet's fifth and sixth logits
// are 14.6279 and 14.6266, and another rounding in the decoder exchanges them. With red and blue exchanged far fewer
// are found of the first five of each class.
func TestRecognizesPhotographs(t *testing.T) {
	photos := archive(t, "imagenette-val-sample")
	synsets, err := os.ReadFile(reference.Asset(t, "models/imagenet_synset_words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]int{} // of each synset
	for i, line := range strings.Split(strings.TrimSpace(string(synsets)), "\n") {
		synset, _, _ := strings.Cut(line, " ")
		classes[synset] = i
	}
	byClass := map[string][]string{}
	for _, f := range photos.File {
		if class := path.Base(path.Dir(f.Name)); !f.FileInfo().IsDir() && len(byClass[class]) < 20 {
			byClass[class] = append(byClass[class], f.Name)
		}
	}
	var few, rest []string
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		few, rest = append(few, byClass[class][:5]...), append(rest, byClass[class][5:]...)
	}
	recognized := func(x blas32.General, paths []string) (top1, top5 int) {
		for i, p := range paths {
			row, better := features.Row(x, i), 0
			for _, v := range row {
				if v > row[classes[path.Base(path.Dir(p))]] {
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
	whole, right := models.Settings{Output: "logits", Resize: new(0)}, 0
	for model, want := range map[string][2]int{"googlenet-bvlc": {131, 184}, "squeezenet1.1": {108, 156}} {
		paths := append(slices.Clone(few), rest...)
		x := extracted(t, photos, paths, model, whole)
		if top1, top5 := recognized(x, paths); top1 != want[0] || top5 != want[1] {
			t.Errorf("%s: found %d among the first one and %d among the first five, expected %v of 200", model, top1,
				top5, want)
		}
		if model == "squeezenet1.1" {
			right, _ = recognized(x, few)
		}
	}
	exchanged := whole
	exchanged.Channels = "BGR"
	if wrong, _ := recognized(extracted(t, photos, few, "squeezenet1.1", exchanged), few); wrong >= right-3 ||
		right < 20 {
		t.Errorf("with red and blue exchanged: found %d of 50, expected fewer than the %d found as they are", wrong,
			right)
	}
}

// Real photographs, from the file to the features, give what PIL, torchvision and torch give
// (backbone/testdata/photos): the cosine of each image's features is at least 0.9999. With another interpolation it
// is not, nor for another image.
func TestFeaturesAsPIL(t *testing.T) {
	var seen struct {
		Photos []struct {
			Archive, Name string
			Features      map[string]string // every fourth number, float32 little-endian, base64
		}
	}
	text, err := os.ReadFile("../../backbone/testdata/photos/photos.json")
	if err == nil {
		err = json.Unmarshal(text, &seen)
	}
	if err != nil || len(seen.Photos) != 24 {
		t.Fatalf("%d photographs, %v", len(seen.Photos), err)
	}
	root, paths := fstest.MapFS{}, make([]string, len(seen.Photos))
	for i, photo := range seen.Photos {
		data, err := fs.ReadFile(archive(t, photo.Archive), photo.Name)
		if err != nil {
			t.Fatal(err)
		}
		paths[i] = fmt.Sprintf("%02d.jpg", i)
		root[paths[i]] = &fstest.MapFile{Data: data}
	}
	for _, model := range []string{"googlenet-bvlc", "mobilenetv2-features"} {
		least := func(x blas32.General, shifted int) float64 {
			worst := 1.0
			for i := range seen.Photos {
				worst = min(worst, cosineToEveryFourth(t, features.Row(x, i),
					seen.Photos[(i+shifted)%len(seen.Photos)].Features[model]))
			}
			return worst
		}
		x := extracted(t, root, paths, model, models.Settings{})
		worst := least(x, 0)
		t.Logf("%s: smallest cosine %.7f", model, worst)
		if !(worst >= 0.9999) {
			t.Errorf("%s: smallest cosine %.6f, expected at least 0.9999", model, worst)
		}
		if other := least(x, 1); other > 0.9 {
			t.Errorf("%s: the features of other images are as near: %.4f", model, other)
		}
		if cubic := least(extracted(t, root, paths, model, models.Settings{Interpolation: "bicubic"}),
			0); cubic >= 0.9999 {
			t.Errorf("%s: with bicubic interpolation the smallest cosine is %.6f, the comparison sees nothing", model,
				cubic)
		}
	}
}

// cosineToEveryFourth compares a row with recorded numbers: every fourth of it.
func cosineToEveryFourth(t *testing.T, row []float32, recorded string) float64 {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(recorded)
	if err != nil || len(data) != len(row) { // four bytes for every fourth number
		t.Fatalf("recorded %d bytes for %d numbers, %v", len(data), len(row), err)
	}
	var ab, aa, bb float64
	for i := 0; i < len(row); i += 4 {
		a, b := float64(row[i]), float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:])))
		ab, aa, bb = ab+a*b, aa+a*a, bb+b*b
	}
	return ab / math.Sqrt(aa*bb)
}
