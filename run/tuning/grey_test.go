package tuning

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/run/config"
)

// isColoured is false for grey images that were stored in a colour format.
func TestColoured(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 20, 20))
	for i := range picture.Pix {
		picture.Pix[i] = byte(100 + i%4*5)
	}
	if isColoured(picture) {
		t.Error("an almost grey image is reported as coloured")
	}
	picture.Set(8, 8, color.RGBA{200, 20, 20, 255})
	if !isColoured(picture) {
		t.Error("an image with a red stroke is reported as grey")
	}
}

// The automatic augmentation mirrors coloured images if the whole network is trained, and else is none.
func TestAutoAugmentation(t *testing.T) {
	for name, c := range map[string]struct {
		weights, augment string
		colour           bool
		want             string
	}{
		"grey":            {config.AllWeights, config.AutoAugmentation, false, "none"},
		"coloured":        {config.AllWeights, config.AutoAugmentation, true, "flip"},
		"the last layers": {"stage3", config.AutoAugmentation, true, "none"},
		"given":           {config.AllWeights, "digits", true, "digits"},
		"given none":      {config.AllWeights, "none", true, "none"},
	} {
		cfg, paths := drawn6(t)
		cfg.Finetune.Weights, cfg.Finetune.Augment = c.weights, c.augment
		if c.colour {
			picture := image.NewRGBA(image.Rect(0, 0, 28, 28))
			picture.Set(3, 3, color.RGBA{200, 20, 20, 255})
			var file bytes.Buffer
			if err := png.Encode(&file, picture); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(cfg.Data.Root, paths[4]), file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		live, notes, err := open(t, cfg, paths)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		mirrored := live.Augment != (backbone.Augmentation{}) && c.augment == config.AutoAugmentation
		if live.Settings.Augment != c.want ||
			mirrored != slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "mirrored") }) {
			t.Errorf("%s: %s, said %q, expected %s", name, live.Settings.Augment, notes, c.want)
		}
	}
}
