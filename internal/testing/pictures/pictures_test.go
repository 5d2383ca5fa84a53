package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smaller keeps a pixel's colour, up to invisible bits, if an image has few colours; otherwise it uses a similar
// colour.
func TestSmaller(t *testing.T) {
	const w, h = 64, 48
	for _, c := range []struct {
		name string
		at   func(x, y int) color.RGBA
		most int // largest error of a colour channel, of 255
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

// The images shown in the documentation exist and are small.
func TestCommitted(t *testing.T) {
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, name := range []string{"audit.png", "mnist-wrong-labels.png", "report.png", "review.png",
		"studio.png", "studio-map.png"} {
		data := read(name)
		if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || len(data) > limit {
			t.Errorf("%s: %d bytes, %v; expected a PNG of at most %d", name, len(data), err, limit)
		}
	}
	data := read(movingName)
	moving, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil || len(data) > movingLimit {
		t.Fatalf("%s: %d bytes, %v; expected a GIF of at most %d", movingName, len(data), err, movingLimit)
	}
	total := 0
	for _, d := range moving.Delay {
		total += d
	}
	if total < 1200 || total > 1800 {
		t.Errorf("%s takes %d hundredths of a second, expected about 1500", movingName, total)
	}
}

// The committed chart shows the committed measurements.
func TestBeside(t *testing.T) {
	table, err := os.ReadFile(filepath.Join("..", "..", "..", measured))
	if err != nil {
		t.Fatal(err)
	}
	all, err := bars(table)
	if err != nil {
		t.Fatal(err)
	}
	want, err := draw(all)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "pictures", besideName))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/pictures/%s does not show %s (%v): make pictures ONLY=beside", besideName, measured, err)
	}
}

// The best of cleanlab's methods is used for a set; a set that one tool did not rank is an error.
func TestBars(t *testing.T) {
	var table strings.Builder
	for _, s := range sets {
		for _, line := range []string{"winnow audit,10,3,3,0.9,nan", `"one, way",10,3,1,0.5,2.5`,
			"10 nearest neighbours; b,10,3,2,0.4,2.5", "10 nearest neighbours; a,10,3,0,0.4,2.5"} {
			fmt.Fprintf(&table, "%s,%s\n# a remark\n", s.name, line)
		}
	}
	all, err := bars([]byte(table.String()))
	if err != nil || len(all) != len(sets) || all[1].Winnow != 3 || all[1].Cleanlab != 2 || all[1].Alone != 2 ||
		all[1].Wrong != "3" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := bars([]byte(strings.ReplaceAll(table.String(), "winnow audit", "other"))); err == nil {
		t.Error("a set without winnow's ranking is accepted")
	}
}

// Exactly the pixels that stay the same are transparent in the next frame.
func TestChanged(t *testing.T) {
	few := color.Palette{color.RGBA{A: 255}, color.RGBA{R: 255, A: 255}}
	before, now := image.NewPaletted(image.Rect(0, 0, 3, 1), few), image.NewPaletted(image.Rect(0, 0, 3, 1),
		color.Palette{few[1], few[0]})
	copy(before.Pix, []uint8{0, 1, 1})
	copy(now.Pix, []uint8{1, 1, 0}) // black, black, red
	if got := changed(before, now); !bytes.Equal(got.Pix, []uint8{2, 1, 2}) {
		t.Errorf("found %v of %v", got.Pix, got.Palette)
	}
}
