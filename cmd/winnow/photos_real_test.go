package main

import (
	"archive/zip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
)

// Real photographs through the command, from the file to the features, give what PIL, torchvision and torch give
// (backbone/testdata/photos): the cosine of each image's features is at least 0.9999. With another
// interpolation it is not, nor for another image.
func TestFeaturesAsPIL(t *testing.T) {
	needRuntime(t)
	var seen struct {
		Photos []struct {
			Archive, Name string
			Features      map[string]string // every fourth number, float32 little-endian, base64
		}
	}
	if err := json.Unmarshal([]byte(readFile(t, "../../backbone/testdata/photos/photos.json")), &seen); err != nil || len(seen.Photos) != 24 {
		t.Fatalf("%d photographs, %v", len(seen.Photos), err)
	}
	dir := t.TempDir()
	images, manifest := filepath.Join(dir, "images"), "path,label\n"
	if err := os.Mkdir(images, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, photo := range seen.Photos {
		z, err := zip.OpenReader(reference.Asset(t, "data/"+photo.Archive+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open(photo.Name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		z.Close()
		write(t, filepath.Join(images, fmt.Sprintf("%02d.jpg", i)), string(data))
		manifest += fmt.Sprintf("%02d.jpg,%d\n", i, i%2)
	}
	list := filepath.Join(dir, "list.csv")
	write(t, list, manifest)
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", filepath.Dir(reference.Asset(t, "models/googlenet-bvlc.onnx")))
	s := studio{dir: dir}
	least := func(out, model string, shifted int, more ...string) float64 {
		store := filepath.Join(dir, out)
		s.call(t, append([]string{"extract", "--manifest", list, "--root", images, "--model", model, "--out", store}, more...)...)
		opened, err := features.Open(store)
		if err != nil {
			t.Fatal(err)
		}
		x, err := opened.Read(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		worst := 1.0
		for i := range seen.Photos {
			worst = min(worst, cosineToEveryFourth(t, features.Row(x, i), seen.Photos[(i+shifted)%len(seen.Photos)].Features[model]))
		}
		return worst
	}
	for _, model := range []string{"googlenet-bvlc", "mobilenetv2-features"} {
		worst := least(model, model, 0)
		t.Logf("%s: smallest cosine %.7f", model, worst)
		if !(worst >= 0.9999) {
			t.Errorf("%s: smallest cosine %.6f, expected at least 0.9999", model, worst)
		}
		if other := least(model, model, 1); other > 0.9 {
			t.Errorf("%s: the features of other images are as near: %.4f", model, other)
		}
		if cubic := least(model+"-cubic", model, 0, "--interpolation", "bicubic"); cubic >= 0.9999 {
			t.Errorf("%s: with bicubic interpolation the smallest cosine is %.6f, the comparison sees nothing", model, cubic)
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
