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

// extracted returns the features of images by a network of the reference assets.
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

// Networks of the registry classify photographs of ImageNet into its 1000 classes. The numbers of right top-1 and top-5
// answers equal those of PIL's decoder with another implementation of preprocessing and network (see the provenance of
// the reference assets). The test needs exact bits: for one photograph, SqueezeNet's fifth and sixth logits are 14.6279
// and 14.6266, and another rounding in the decoder swaps them. With red and blue swapped, the network recognises far
// fewer of the first five images of each class.
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
			t.Errorf("%s: %d right among the top 1 and %d among the top 5, expected %v of 200", model, top1,
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
		t.Errorf("with red and blue swapped: recognised %d of 50, expected fewer than the %d without swapping", wrong,
			right)
	}
}

// The features of photographs equal those of PIL, torchvision and torch (backbone/testdata/photos), with a cosine of at
// least 0.9999 for each image. With another interpolation, or for another image, the cosine is lower.
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
			t.Errorf("%s: with bicubic interpolation the smallest cosine is %.6f, expected a smaller one", model,
				cubic)
		}
	}
}

// cosineToEveryFourth returns the cosine between every fourth number of a row and the recorded numbers.
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
