package backbone

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestRecipes checks that the names are found, that sizes scale with the network's input, and that the error for an
// unknown name lists the known names.
func TestRecipes(t *testing.T) {
	for _, r := range Recipes() {
		a, err := ParseAugmentation(r.Name)
		if err != nil || a != r.Augmentation || a.checkAugmentation() != nil || r.About == "" {
			t.Errorf("%s: %v, %v", r.Name, err, a.checkAugmentation())
		}
		for _, crop := range []int{28, 32, 112, 224} {
			p := imageNet
			p.Crop = crop
			if _, err := NewViewer(p, a); err != nil {
				t.Errorf("%s at %d: %v", r.Name, crop, err)
			}
		}
	}
	prism, err := ParseAugmentation("prism")
	if err != nil {
		t.Fatal(err)
	}
	for crop, want := range map[int]int{224: 256, 112: 128, 32: 37, 28: 32} {
		p := imageNet
		p.Crop = crop
		if q := prism.resizeForCrops(p); q.Resize != want || !q.Exact {
			t.Errorf("crop %d: resize to %d, exact %v, expected %d", crop, q.Resize, q.Exact, want)
		}
	}
	if _, err := ParseAugmentation("prsim"); err == nil ||
		!strings.Contains(err.Error(),
			`augmentation "prsim" is unknown (did you mean "prism"?): known are none, flip, prism`) {
		t.Errorf("%v", err)
	}
}

func TestValidateAugmentation(t *testing.T) {
	for want, a := range map[string]Augmentation{
		`crop is "middle"`:              {Crop: "middle"},
		"resize is -1":                  {Crop: cropRandom, Resize: -1},
		"pad is -1":                     {Crop: cropRandom, Pad: -1},
		`pad 4 with crop ""`:            {Pad: 4},
		`but these need crop "resized"`: {Scale: [2]float64{0.1, 1}},
		"scale is [0.5 0.2]":            {Crop: cropResized, Scale: [2]float64{0.5, 0.2}},
		"scale is [0.5 1.2]":            {Crop: cropResized, Scale: [2]float64{0.5, 1.2}},
		"ratio is [0 1]":                {Crop: cropResized, Ratio: [2]float64{0, 1}},
		"flip is 1.5":                   {Flip: 1.5},
		"flip is NaN":                   {Flip: math.NaN()},
		"rotate is -3":                  {Rotate: -3},
		"shift is 2":                    {Shift: 2},
		"zoom is 1":                     {Zoom: 1},
		"jitter of hue is 0.6":          {Jitter: [4]float64{0, 0, 0, 0.6}, JitterP: 1},
		"jitter_p is 0":                 {Jitter: [4]float64{0.4}},
		"grey is -0.1":                  {Grey: -0.1},
		"pad is 28, expected less":      {Crop: cropRandom, Pad: 28},
		"resize is 20 with pad 0":       {Crop: cropRandom, Resize: 20},
	} {
		if _, err := NewViewer(unchanged(32, 28, "bilinear"), a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
	v, err := NewViewer(unchanged(32, 28, "bilinear"), Augmentation{Flip: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Into(make([]float32, 3), resizePicture(t), rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("a short destination was accepted")
	}
	if err := v.Into(make([]float32, 3*28*28), resizePicture(t), nil); err == nil {
		t.Error("no generator was accepted")
	}
}
