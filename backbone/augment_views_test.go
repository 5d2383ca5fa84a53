package backbone

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestAnyView: for any picture size and augmentation, every value is written and is one of the 256.
func TestAnyView(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		img := photograph(rapid.IntRange(1, 50).Draw(r, "w"), rapid.IntRange(1, 50).Draw(r, "h"), 1)
		p := unchanged(rapid.IntRange(0, 40).Draw(r, "resize"), rapid.IntRange(1, 40).Draw(r, "crop"), "bilinear")
		p.Exact = p.Resize > 0 && rapid.Bool().Draw(r, "exact")
		if rapid.Bool().Draw(r, "grey") {
			p.Channels = "L"
		}
		unit := rapid.Float64Range(0, 1)
		a := Augmentation{Crop: rapid.SampledFrom([]string{cropCentre, cropRandom, cropResized}).Draw(r, "how"),
			Flip:   unit.Draw(r, "flip"),
			Rotate: 180 * unit.Draw(r, "rotate"), Shift: unit.Draw(r, "shift"), Zoom: 0.9 * unit.Draw(r, "zoom"),
			Jitter: [4]float64{unit.Draw(r, "b"), 2 * unit.Draw(r, "c"), unit.Draw(r, "s"),
				unit.Draw(r, "h") / 2}, JitterP: 1, Grey: unit.Draw(r, "togrey")}
		if a.Crop == cropRandom {
			a.Pad = rapid.IntRange(0, p.Crop-1).Draw(r, "pad")
			if p.Resize > 0 && p.Resize+2*a.Pad < p.Crop && a.Pad > 0 {
				a.Resize = p.Crop
			}
		}
		v, err := NewViewer(p, a)
		if err != nil {
			r.Fatal(err)
		}
		dst := make([]float32, p.Size())
		for i := range dst {
			dst[i] = float32(math.NaN())
		}
		if err := v.Into(dst, img, rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))); err != nil {
			r.Fatal(err)
		}
		for i, x := range dst {
			if !(x >= 0 && x <= 255 && x == float32(int(x))) {
				r.Fatalf("value %d is %v", i, x)
			}
		}
	})
}

// TestOnePixel: all views of a single pixel are that pixel, or the black of the padding.
func TestOnePixel(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	copy(img.Pix, []byte{10, 200, 30, 255})
	for _, r := range Recipes() {
		r.Augmentation.Jitter, r.Augmentation.JitterP, r.Augmentation.Grey = [4]float64{}, 0, 0
		p := unchanged(8, 8, "bicubic")
		for seed := range uint64(5) {
			pix := pixelsOf(viewAt(t, p, r.Augmentation, img, seed), 8, 3)
			black := 0
			for c := range slices.Chunk(pix, 3) {
				switch {
				case slices.Equal(c, []byte{0, 0, 0}):
					black++
				case !slices.Equal(c, []byte{10, 200, 30}):
					t.Fatalf("%s: %v", r.Name, c)
				}
			}
			if black > 0 && r.Augmentation.Pad == 0 || black > 48 {
				t.Errorf("%s: %d black pixels", r.Name, black)
			}
		}
	}
}

// TestGreyHasNoColour: on one grey channel saturation, hue and grey change nothing, brightness and contrast do.
func TestGreyHasNoColour(t *testing.T) {
	img := resizePicture(t)
	p := unchanged(36, 28, "bilinear")
	p.Channels = "L"
	want := run(t, img, p)
	still := Augmentation{Jitter: [4]float64{0, 0, 0.9, 0.5}, JitterP: 1, Grey: 1}
	if !slices.Equal(viewAt(t, p, still, img, 1), want) {
		t.Error("saturation, hue or grey changed a grey picture")
	}
	for i := range 2 {
		a := Augmentation{JitterP: 1}
		a.Jitter[i] = 0.5
		if slices.Equal(viewAt(t, p, a, img, 1), want) {
			t.Errorf("jitter %d left a grey picture as it was", i)
		}
	}
}

// TestBGRViews: a network that expects blue first sees the same views with the planes exchanged, including
// their colours.
func TestBGRViews(t *testing.T) {
	img := resizePicture(t)
	rgb, bgr := unchanged(36, 28, "bilinear"), unchanged(36, 28, "bilinear")
	bgr.Channels = "BGR"
	const n = 28 * 28
	for _, r := range Recipes() {
		for seed := range uint64(4) {
			a, b := viewAt(t, rgb, r.Augmentation, img, seed), viewAt(t, bgr, r.Augmentation, img, seed)
			if !slices.Equal(a[:n], b[2*n:]) || !slices.Equal(a[n:2*n], b[n:2*n]) || !slices.Equal(a[2*n:], b[:n]) {
				t.Errorf("%s: seed %d differs", r.Name, seed)
			}
		}
	}
}
