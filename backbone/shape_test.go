package backbone

import (
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// speckled is a picture of random colours.
func speckled(w, h int) *image.NRGBA {
	rng := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 255})
		}
	}
	return m
}

// A network that is not square sees what its width and height say: computed here from the picture's own pixels, and
// from squares that hold the same part.
func TestNotSquare(t *testing.T) {
	base := Preprocessing{Interpolation: "bilinear", Channels: "RGB", Scale: 1, Std: [3]float32{1, 1, 1}}
	pixels := func(p Preprocessing, img image.Image) []float32 {
		t.Helper()
		dst := make([]float32, p.Size())
		if err := Preprocess(dst, img, p); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	for _, size := range [][2]int{{12, 30}, {40, 9}} { // width, height
		w, h := size[0], size[1]
		img := speckled(w, h)
		own := pixels(base.WithSize(w, h), img)
		for y := range h {
			for x := range w {
				c := img.NRGBAAt(x, y)
				for plane, v := range []uint8{c.R, c.G, c.B} {
					if own[(plane*h+y)*w+x] != float32(v) {
						t.Fatalf("%dx%d: pixel %d,%d of plane %d", w, h, x, y, plane)
					}
				}
			}
		}
		// The picture in the middle of a square, the rest black.
		side := max(w, h)
		square := pixels(base.WithSize(side, side), img)
		for plane := range 3 {
			for y := range h {
				at := (plane*side+y+(side-h)/2)*side + (side-w)/2
				if !slices.Equal(square[at:at+w], own[(plane*h+y)*w:][:w]) {
					t.Fatalf("%dx%d: row %d differs from the square's", w, h, y)
				}
			}
		}
		// A view without changes is the evaluation's; mirrored, each of its rows is reversed.
		for fit, crop := range map[string]int{"squash": w, "short": w * 8 / 7, "long": w} {
			p := base.WithSize(w, h)
			p.Resize = crop
			p = p.Fitted(fit)
			big := speckled(3*w+5, 2*h+3)
			plain := pixels(p, big)
			v, err := NewViewer(p, Augmentation{Flip: 1})
			if err != nil {
				t.Fatal(err)
			}
			dst := slices.Clone(plain)
			if err := v.Into(dst, big, rand.New(rand.NewPCG(1, 1))); err != nil {
				t.Fatal(err)
			}
			for at := 0; at < len(dst); at += w {
				row := slices.Clone(plain[at : at+w])
				slices.Reverse(row)
				if !slices.Equal(dst[at:at+w], row) {
					t.Fatalf("%s %dx%d: row %d is not mirrored", fit, w, h, at/w)
				}
			}
			// What a cache keeps gives the same views.
			for name, a := range map[string]Augmentation{"random": {Crop: cropRandom, Flip: 0.5},
				"turned": {Rotate: 20, Shift: 0.1, Zoom: 0.1}, "resized": {Crop: cropResized}} {
				v, err := NewViewer(p, a)
				if err != nil {
					t.Fatal(err)
				}
				other := slices.Clone(dst)
				for _, to := range []struct {
					dst []float32
					img image.Image
				}{{dst, big}, {other, v.reducePicture(big)}} {
					if err := v.Into(to.dst, to.img, rand.New(rand.NewPCG(2, 1))); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(dst, other) {
					t.Errorf("%s %s %dx%d: the kept picture gives another view", fit, name, w, h)
				}
			}
		}
	}
	p := base.WithSize(128, 256)
	p.Resize = 146
	for _, c := range []struct{ w, h, rw, rh int }{{64, 128, 146, 292}, {500, 375, 389, 292}, {100, 1000, 146, 1460}} {
		if rw, rh := p.targetSize(c.w, c.h); rw != c.rw || rh != c.rh {
			t.Errorf("%dx%d becomes %dx%d, expected %dx%d", c.w, c.h, rw, rh, c.rw, c.rh)
		}
	}
	if rw, rh := p.Fitted("long").targetSize(500, 375); rw != 128 || rh != 96 {
		t.Errorf("fits as %dx%d", rw, rh)
	}
	if q, err := ParsePreprocessing(p.Key()); err != nil || q != p {
		t.Errorf("%+v, %v", q, err)
	}
	if old := `"crop":224,`; p.WithSize(224, 224).Key() == "" || !strings.Contains(p.WithSize(224, 224).Key(), old) ||
		strings.Contains(p.WithSize(224, 224).Key(), "height") {
		t.Errorf("the key of a square changed: %s", p.WithSize(224, 224).Key())
	}
}
