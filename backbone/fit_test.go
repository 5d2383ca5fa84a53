package backbone

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
	"testing/fstest"
)

// striped returns an image of w×h pixels that is white at both ends of its longer side and grey in between.
func striped(w, h int) image.Image {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			at, of := x, w
			if h > w {
				at, of = y, h
			}
			v := uint8(100)
			if at < of/8 || at >= of-of/8 {
				v = 255
			}
			img.SetGray(x, y, color.Gray{v})
		}
	}
	return img
}

// Both ends of an image are visible if it is squashed or resized by the longer side, but not if it is cropped. If it
// is resized by the longer side, the rest is black.
func TestFitted(t *testing.T) {
	for _, c := range []struct {
		fit                  string
		w, h                 int
		left, middle, corner byte // first and middle pixel of the middle row (tall image: column); first pixel of all
	}{
		{"squash", 160, 80, 255, 100, 255}, {"squash", 80, 160, 255, 100, 255},
		{"short", 160, 80, 100, 100, 100}, {"short", 80, 160, 100, 100, 100},
		{"long", 160, 80, 255, 100, 0}, {"long", 80, 160, 255, 100, 0},
		{"squash", 80, 80, 255, 100, 255}, {"long", 80, 80, 255, 100, 255},
	} {
		p := unchanged(36, 32, "bilinear").Fitted(c.fit)
		p.Channels = "L"
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := ParsePreprocessing(p.Key())
		if err != nil || again != p {
			t.Errorf("%s: read back as %+v, %v", c.fit, again, err)
		}
		got := run(t, striped(c.w, c.h), p)
		at := func(x, y int) byte { return byte(got[y*32+x]) }
		left, middle := at(1, 16), at(16, 16)
		if c.h > c.w {
			left = at(16, 1)
		}
		if left != c.left || middle != c.middle || at(0, 0) != c.corner {
			t.Errorf("%s of %d×%d: found %d, %d and %d in the corner, expected %d, %d and %d", c.fit, c.w, c.h,
				left, middle, at(0, 0), c.left, c.middle, c.corner)
		}
		v, err := NewViewer(p, Augmentation{Crop: cropRandom})
		if err != nil {
			t.Fatal(err)
		}
		img := striped(c.w, c.h)
		whole, reduced := make([]float32, p.Size()), make([]float32, p.Size())
		if err := v.Into(whole, img, rand.New(rand.NewPCG(1, 2))); err != nil {
			t.Fatal(err)
		}
		if err := v.Into(reduced, v.reducePicture(img), rand.New(rand.NewPCG(1, 2))); err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			if whole[i] != reduced[i] {
				t.Fatalf("%s of %d×%d: a view of the reduced image differs", c.fit, c.w, c.h)
			}
		}
	}
	old := unchanged(36, 32, "bilinear")
	if old.Fitted("short") != old || old.Fitted("squash").Fitted("short").Resize != 32 {
		t.Error("the fit short changes a preprocessing that crops already")
	}
	if bad := old.Fitted("long"); func() bool { bad.Exact = true; return bad.Validate() == nil }() {
		t.Error("exact with long was accepted")
	}
}

func TestSize(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, striped(30, 20)); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"a.png": {Data: file.Bytes()}, "bad.png": {Data: []byte("x")}}
	for path, want := range map[string][2]int{"a.png": {30, 20}, "a.png#xywh=1,2,7,5": {7, 5}} {
		if w, h, err := Size(files, path); err != nil || [2]int{w, h} != want {
			t.Errorf("%s: %d×%d, %v, expected %v", path, w, h, err, want)
		}
	}
	if _, _, err := Size(files, "bad.png"); err == nil {
		t.Error("no error for a file that is not an image")
	}
}
