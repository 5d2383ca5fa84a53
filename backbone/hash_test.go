package backbone

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"

	"github.com/disintegration/imaging"
)

// Hashes change little if an image is saved again or scaled, and differ between images.
func TestHash(t *testing.T) {
	again := func(img image.Image, quality int) image.Image {
		var data bytes.Buffer
		if err := jpeg.Encode(&data, img, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(&data)
		if err != nil {
			t.Fatal(err)
		}
		return img
	}
	var l looker
	for _, side := range []int{200, 32} {
		seen := func(seed float64) image.Image { return imaging.Resize(scene(seed), side, 0, imaging.Box) }
		a := seen(0.3)
		h := l.measureLook(a).Hash
		for name, img := range map[string]image.Image{
			"saved again": again(a, 60), "half": imaging.Resize(a, side/2, 0, imaging.CatmullRom),
			"larger":   imaging.Resize(a, side*3/2, 0, imaging.CatmullRom),
			"squeezed": imaging.Resize(a, side, side, imaging.Linear),
		} {
			if n := h.Differ(l.measureLook(img).Hash); n > 10 {
				t.Errorf("%d pixels, %s: %d bits differ", side, name, n)
			}
		}
		if n := h.Mirrored().Differ(l.measureLook(imaging.FlipH(a)).Hash); n > 1 {
			t.Errorf("%d pixels: %d bits of the mirrored image differ", side, n)
		}
		if n := h.Differ(l.measureLook(imaging.FlipV(a)).Hash); n < 15 {
			t.Errorf("%d pixels, a different image: %d bits differ", side, n)
		}
	}
	if h := l.measureLook(image.NewGray(image.Rect(0, 0, 20, 20))).Hash; h != (Hash{}) {
		t.Errorf("an image of one colour has hash %v", h)
	}
}

func TestParseLook(t *testing.T) {
	var l looker
	look := l.measureLook(scene(0.5))
	if got := ParseLook(look.String()); got != look || look.Hash == (Hash{}) {
		t.Errorf("%v, expected %v", got, look)
	}
	for _, text := range []string{"", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7 12", "x 2 3 4 5 6 7 " + Hash{}.String(),
		look.String() + "0", look.String() + " 1"} {
		if got := ParseLook(text); got != (Look{}) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
