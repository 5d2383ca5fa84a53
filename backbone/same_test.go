package backbone

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"testing"
	"testing/fstest"

	"github.com/disintegration/imaging"
)

// scene returns an image of waves that depend on the seed.
func scene(seed float64) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 200, 150))
	for y := range 150 {
		for x := range 200 {
			u, v := float64(x)/60, float64(y)/50
			wave := func(phase float64) uint8 {
				return uint8(128 + 60*math.Sin(u*(1+seed)+phase) + 60*math.Cos(v*(2-seed/2)-u*seed+phase*seed))
			}
			img.SetNRGBA(x, y, color.NRGBA{wave(0), wave(1 + seed), wave(2), 255})
		}
	}
	return img
}

func TestSamePictures(t *testing.T) {
	files := fstest.MapFS{}
	put := func(name string, img image.Image, quality int) {
		var out bytes.Buffer
		var err error
		if quality > 0 {
			err = jpeg.Encode(&out, img, &jpeg.Options{Quality: quality})
		} else {
			err = png.Encode(&out, img)
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: out.Bytes()}
	}
	a := scene(0.3)
	put("a", a, 0)
	put("again", a, 40)
	put("half", imaging.Resize(a, 100, 75, imaging.Box), 0)
	put("squeezed", imaging.Resize(a, 120, 120, imaging.Linear), 80)
	put("larger", imaging.Resize(a, 300, 225, imaging.CatmullRom), 80)
	put("mirrored", imaging.FlipH(a), 80)
	put("cropped", imaging.CropCenter(a, 188, 141), 80)
	put("cropped more", imaging.CropCenter(a, 168, 126), 80)
	put("brighter", imaging.AdjustBrightness(a, 5), 80)
	put("other", scene(0.7), 0)
	put("third", scene(1.1), 0)
	put("other colours", imaging.AdjustFunc(a, func(c color.NRGBA) color.NRGBA {
		return color.NRGBA{c.G, c.B, c.R, c.A}
	}), 0)
	put("half of it", imaging.Crop(a, image.Rect(0, 0, 100, 150)), 0)
	small := imaging.Resize(a, 32, 32, imaging.Box)
	put("small", small, 0)
	put("small again", small, 60)
	put("small, half", imaging.Resize(small, 16, 16, imaging.CatmullRom), 0)
	put("small, larger", imaging.Resize(small, 48, 48, imaging.CatmullRom), 0)
	put("small, cropped", imaging.CropCenter(small, 28, 28), 0)
	put("small, framed", imaging.PasteCenter(imaging.New(36, 36, color.NRGBA{128, 128, 128, 255}), small), 0)
	put("small other", imaging.Resize(scene(0.7), 32, 32, imaging.Box), 0)
	put("thin", imaging.Resize(a, 200, 2, imaging.Box), 0)
	put("thin other", imaging.Resize(scene(1.1), 200, 2, imaging.Box), 0)
	grey := image.NewNRGBA(image.Rect(0, 0, 40, 40))
	for i := range grey.Pix {
		grey.Pix[i] = 200
	}
	put("plain", grey, 0)
	put("plain too", imaging.Resize(grey, 80, 80, imaging.Box), 0)
	files["broken"] = &fstest.MapFile{Data: []byte("no picture")}
	var pairs [][2]string
	var want []bool
	for _, name := range []string{"again", "half", "squeezed", "larger", "mirrored", "cropped", "cropped more",
		"brighter"} {
		pairs, want = append(pairs, [2]string{"a", name}, [2]string{name, "a"}), append(want, true, true)
	}
	for _, name := range []string{"other", "third", "other colours", "half of it", "plain", "broken"} {
		pairs, want = append(pairs, [2]string{"a", name}, [2]string{name, "a"}), append(want, false, false)
	}
	for _, name := range []string{"small again", "small, half", "small, larger", "small, cropped", "small, framed"} {
		pairs = append(pairs, [2]string{"small", name}, [2]string{"small other", name})
		want = append(want, true, false)
	}
	pairs, want = append(pairs, [2]string{"thin", "thin other"}, [2]string{"thin", "thin"}), append(want, false, true)
	pairs = append(pairs, [2]string{"plain", "plain too"}, [2]string{"broken", "broken"})
	want = append(want, true, false)
	same, err := SamePictures(t.Context(), files, pairs)
	if err != nil {
		t.Fatal(err)
	}
	for i, pair := range pairs {
		if same[i] != want[i] {
			t.Errorf("%s: found %v, expected %v", pair, same[i], want[i])
		}
	}
}
