package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// smaller keeps a pixel's colour, up to invisible bits, if an image has few colours, and uses a near one if it has
// many.
func TestSmaller(t *testing.T) {
	const w, h = 64, 48
	for _, c := range []struct {
		name string
		at   func(x, y int) color.RGBA
		most int // parts of 255 that a colour may be off
	}{
		{"a page", func(x, y int) color.RGBA { return color.RGBA{uint8(x / 8 * 32), uint8(y / 16 * 64), 250, 255} }, 3},
		{"a photograph", func(x, y int) color.RGBA {
			return color.RGBA{uint8(4 * x), uint8(5 * y),
				uint8(2 * (x + y)), 255}
		}, 24},
	} {
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				img.SetRGBA(x, y, c.at(x, y))
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		data, err := smaller(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		out, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := out.(*image.Paletted)
		if !ok || len(p.Palette) > 256 || p.Rect != img.Rect {
			t.Fatalf("%s: %T %v, expected at most 256 colours in %v", c.name, out, out.Bounds(), img.Rect)
		}
		for y := range h {
			for x := range w {
				r, g, bl, _ := p.At(x, y).RGBA()
				want := c.at(x, y)
				for k, d := range [][2]int{{int(r >> 8), int(want.R)}, {int(g >> 8), int(want.G)},
					{int(bl >> 8), int(want.B)}} {
					if d[0]-d[1] > c.most || d[1]-d[0] > c.most {
						t.Fatalf("%s: part %d of %d,%d is %d, expected %d ± %d", c.name, k, x, y, d[0], d[1], c.most)
					}
				}
			}
		}
	}
}

// The pictures that the documentation shows are there and small.
func TestCommitted(t *testing.T) {
	for _, name := range []string{"audit.png", "map.png", "mnist-wrong-labels.png", "report.png", "review.png"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pictures", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || len(data) > limit {
			t.Errorf("%s: %d bytes, %v; expected a PNG of at most %d", name, len(data), err, limit)
		}
	}
}
