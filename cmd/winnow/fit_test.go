package main

import (
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/testing/exports"
	"winnow/internal/testing/orttest"
)

// TestFitEverywhere: extract, audit, train and a fine-tuning measure the same choice between cropped and squashed
// pictures, say it once, and keep it with their features; the truth and a choice of the user's change nothing of that.
func TestFitEverywhere(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	t.Setenv("WINNOW_MODELS", "models.json")
	if err := os.WriteFile("network.onnx", exports.ByName(t, "pytorch").File, 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "winnow models add network.onnx --name tiny --preset unit --size 12x12")
	rng := rand.New(rand.NewPCG(1, 1))
	for _, class := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(filepath.Join("pictures", class), 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range 16 {
			m := image.NewNRGBA(image.Rect(0, 0, 36, 12))
			for y := range 12 {
				for x := range 36 { // the ends tell the class, the middle tells nothing
					c := color.NRGBA{uint8(rng.IntN(256)), uint8(rng.IntN(256)), uint8(rng.IntN(256)), 255}
					if x < 12 || x >= 24 {
						c = color.NRGBA{uint8(rng.IntN(32)), uint8(rng.IntN(32)), uint8(rng.IntN(32)), 255}
						*[]*uint8{&c.R, &c.G, &c.B}[class[0]-'a'] = 255
					}
					m.SetNRGBA(x, y, c)
				}
			}
			f, err := os.Create(filepath.Join("pictures", class, string('a'+rune(i))+".png"))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, m); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	said := regexp.MustCompile(`pictures are squashed to 12×12, not cropped: label likelihood ([0-9.]+ squashed, ` +
		`[0-9.]+ cropped \(48 images)`)
	numbers := ""
	const training = " --steps 2 --screen none --batch 3x3 --dim 4 --set validation.hold_out=0"
	for _, c := range []struct{ line, store string }{
		{"extract --manifest pictures --model tiny --out features", "features"},
		{"audit pictures --model tiny --scorer centres --out suspects.csv", "suspects.features"},
		{"train pictures --model tiny --out frozen" + training, "frozen/features"},
		{"train pictures --model tiny --finetune all --out tuned" + training, "tuned/features"},
	} {
		_, stderr := mustCall(t, strings.Fields(c.line)...)
		found := said.FindAllStringSubmatch(stderr, -1)
		if len(found) != 1 {
			t.Fatalf("%s: said %d times: %s", c.line, len(found), stderr)
		}
		if numbers == "" {
			numbers = found[0][1]
		}
		if found[0][1] != numbers {
			t.Errorf("%s: found %s, expected %s", c.line, found[0][1], numbers)
		}
		if key, ok := features.KeyIn(c.store); !ok || !strings.Contains(key.Preprocessing, `"exact":true`) {
			t.Errorf("%s: features of %s", c.line, key.Preprocessing)
		}
	}
	for _, line := range []string{"extract --manifest pictures --model tiny --out features",
		"extract --manifest pictures --model tiny --resize short --out cropped"} {
		if _, stderr := mustCall(t, strings.Fields(line)...); strings.Contains(stderr, "pictures are") {
			t.Errorf("%s: %s", line, stderr)
		}
	}
	mustRun(t, "winnow models add network.onnx --name asked --preset unit --size 12x12 --resize short")
	_, stderr := mustCall(t, strings.Fields("extract --manifest pictures --model asked --out again")...)
	if strings.Contains(stderr, "pictures are") {
		t.Errorf("a model that was added with a way: %s", stderr)
	}
}
