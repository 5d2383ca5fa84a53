package backbone

import (
	"image"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// testPictures returns the images of the decoders' tests, of all kinds and sizes.
func testPictures(t testing.TB) map[string]image.Image {
	t.Helper()
	pictures := map[string]image.Image{}
	for _, pattern := range []string{"*.jpg", "*.gif", "*.bmp", "*.webp", "resize.png"} {
		names, err := filepath.Glob("testdata/pil/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			img, err := Decode(readFile(t, name), DecodeOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			pictures[filepath.Base(name)] = img
		}
	}
	if len(pictures) < 25 {
		t.Fatalf("found %d test images", len(pictures))
	}
	return pictures
}

// evaluationOf renders the evaluation view through a plan without random changes, not through the shortcut for the
// zero Augmentation. spoil may change the plan.
func evaluationOf(t testing.TB, img image.Image, p Preprocessing, spoil func(*view)) []float32 {
	t.Helper()
	v, err := NewViewer(p, Augmentation{})
	if err != nil {
		t.Fatal(err)
	}
	w := Augmentation{}.planView(p, img.Bounds().Dx(), img.Bounds().Dy(), drawFrom(rand.New(rand.NewPCG(1, 2))))
	spoil(&w)
	dst := make([]float32, p.Size())
	v.renderView(dst, img, w)
	return dst
}

// TestNoAugmentationAsEvaluation checks that the zero value gives the evaluation view for all test images, bit for
// bit, along each path: the shortcut, direct, through bytes, and through a warp that moves nothing. A plan that is off
// by one sample must be detected.
func TestNoAugmentationAsEvaluation(t *testing.T) {
	exact := imageNet
	exact.Resize, exact.Exact, exact.Crop = 40, true, 32
	grey := unchanged(0, 28, "bilinear")
	grey.Channels = "L"
	bgr := imageNet
	bgr.Channels, bgr.Resize, bgr.Crop = "BGR", 36, 31
	seen := 0
	for name, img := range testPictures(t) {
		for _, p := range []Preprocessing{imageNet, exact, grey, bgr, unchanged(20, 24, "lanczos")} {
			want := run(t, img, p)
			v, err := NewViewer(p, Augmentation{})
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float32, p.Size())
			if err := v.Into(got, img, nil); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: the zero value differs", name, p.Key())
			}
			for road, change := range map[string]func(*view){
				"direct": func(*view) {},
				"bytes":  func(w *view) { w.colour = colourChange{factor: [4]float64{1}, steps: 1} },
				"warp":   func(w *view) { w.warp.zoom = 1 },
			} {
				if !slices.Equal(evaluationOf(t, img, p, change), want) {
					t.Errorf("%s, %s: the view by %s differs", name, p.Key(), road)
				}
			}
			if !slices.Equal(evaluationOf(t, img, p, func(w *view) { w.across.start++ }), want) {
				seen++
			}
		}
	}
	if seen < 60 {
		t.Errorf("crops moved by one sample differed %d times: the comparison is too weak", seen)
	}
}

// If the evaluation crops, an augmentation fitted to it does not squash: views of square images keep their bits, other
// views change, and the evaluation stays the same. If the evaluation squashes, nothing changes.
func TestFittingViews(t *testing.T) {
	crop := imageNet
	crop.Resize, crop.Crop = 40, 32
	for _, r := range Recipes() {
		fitted := r.Augmentation.Fitting(crop)
		if got := fitted.Evaluation(crop); got != crop {
			t.Errorf("%s: evaluated as %s, expected %s", r.Name, got.Key(), crop.Key())
		}
		squash := crop.Fitted("squash")
		if got := r.Augmentation.Fitting(squash); got != r.Augmentation {
			t.Errorf("%s: changed although images are squashed", r.Name)
		}
		for size, same := range map[image.Point]bool{{48, 48}: true, {96, 48}: !r.Augmentation.Exact} {
			img := image.NewRGBA(image.Rectangle{Max: size})
			rng := rand.New(rand.NewPCG(3, 4))
			for i := range img.Pix {
				img.Pix[i] = byte(rng.Uint32()) | 3*byte(i%4/3*85) // opaque
			}
			var views [2][]float32
			for i, a := range []Augmentation{r.Augmentation, fitted} {
				v, err := NewViewer(crop, a)
				if err != nil {
					t.Fatal(err)
				}
				views[i] = make([]float32, crop.Size())
				if err := v.Into(views[i], img, rand.New(rand.NewPCG(5, 6))); err != nil {
					t.Fatal(err)
				}
			}
			if slices.Equal(views[0], views[1]) != same {
				t.Errorf("%s of %v: views equal: %v, expected %v", r.Name, size, !same, same)
			}
		}
	}
}
