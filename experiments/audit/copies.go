package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io/fs"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/image/draw"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/run/inspect"
)

// way is a way of copying a picture.
type way struct {
	name, ending string
	copy         func(img image.Image) ([]byte, error) // nil: the same bytes
}

// ways are the ways in which copies are made.
var ways = []way{
	{"the same bytes", "", nil},
	{"JPEG, quality 60", ".jpg", func(img image.Image) ([]byte, error) { return asJPEG(img, 60) }},
	{"half the size", ".png", func(img image.Image) ([]byte, error) { return asPNG(scaled(img, 0.5)) }},
	{"one and a half times the size", ".png", func(img image.Image) ([]byte, error) { return asPNG(scaled(img, 1.5)) }},
	{"cropped by 5 % at every edge", ".png", func(img image.Image) ([]byte, error) {
		b := img.Bounds()
		cut := b.Inset(max(1, int(math.Round(0.05*float64(min(b.Dx(), b.Dy()))))))
		return asPNG(drawn(cut.Size(), func(x, y int) color.Color { return img.At(cut.Min.X+x, cut.Min.Y+y) }))
	}},
	{"mirrored", ".png", func(img image.Image) ([]byte, error) {
		b := img.Bounds()
		return asPNG(drawn(b.Size(), func(x, y int) color.Color { return img.At(b.Max.X-1-x, b.Min.Y+y) }))
	}},
	{"brighter, JPEG, then PNG", ".png", func(img image.Image) ([]byte, error) {
		b := img.Bounds()
		lighter := func(v uint32) uint8 { return uint8(min(v>>8+13, 255)) }
		data, err := asJPEG(drawn(b.Size(), func(x, y int) color.Color {
			red, green, blue, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
			return color.NRGBA{lighter(red), lighter(green), lighter(blue), 255}
		}), 85)
		if err != nil {
			return nil, err
		}
		if img, err = jpeg.Decode(bytes.NewReader(data)); err != nil {
			return nil, err
		}
		return asPNG(img)
	}},
	{"with a grey border of 5 %", ".png", func(img image.Image) ([]byte, error) {
		b := img.Bounds()
		wide := max(1, int(math.Round(0.05*float64(min(b.Dx(), b.Dy())))))
		framed := drawn(b.Size().Add(image.Pt(2*wide, 2*wide)), func(int, int) color.Color {
			return color.NRGBA{128, 128, 128, 255}
		})
		draw.Draw(framed, b.Sub(b.Min).Add(image.Pt(wide, wide)), img, b.Min, draw.Src)
		return asPNG(framed)
	}},
}

func asJPEG(img image.Image, quality int) ([]byte, error) {
	var out bytes.Buffer
	err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality})
	return out.Bytes(), err
}

func asPNG(img image.Image) ([]byte, error) {
	var out bytes.Buffer
	err := png.Encode(&out, img)
	return out.Bytes(), err
}

func scaled(img image.Image, by float64) image.Image {
	side := func(n int) int { return max(1, int(math.Round(by*float64(n)))) }
	to := image.NewNRGBA(image.Rect(0, 0, side(img.Bounds().Dx()), side(img.Bounds().Dy())))
	draw.CatmullRom.Scale(to, to.Rect, img, img.Bounds(), draw.Src, nil)
	return to
}

// drawn returns a picture with a colour for each pixel.
func drawn(size image.Point, at func(x, y int) color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			img.Set(x, y, at(x, y))
		}
	}
	return img
}

// plantCopies writes at most n pictures of a manifest into folders of their classes, and a copy of each of the first
// 8·each of them, in one way after the other, into the same class. Names are NUMBER.ENDING and NUMBER~WAY.ENDING.
func plantCopies(ctx context.Context, manifest, root, to string, n, each int) error {
	d, err := datasets.ReadFile(manifest, datasets.ReadOptions{})
	if err != nil {
		return err
	}
	files, err := imageroot.Open(ctx, location.At(root))
	if err != nil {
		return err
	}
	order := rand.New(rand.NewPCG(45, 1)).Perm(len(d.Samples))
	for i, at := range order[:min(n, len(order))] {
		s := d.Samples[at]
		data, err := fs.ReadFile(files, s.Path)
		if err != nil {
			return err
		}
		class := filepath.Join(to, strings.ReplaceAll(d.Classes[s.Label], "/", "-"))
		if err := os.MkdirAll(class, 0o755); err != nil {
			return err
		}
		name := filepath.Join(class, fmt.Sprintf("%05d", i))
		if err := os.WriteFile(name+path.Ext(s.Path), data, 0o644); err != nil {
			return err
		}
		if i >= each*len(ways) {
			continue
		}
		if w := ways[i%len(ways)]; w.copy != nil {
			img, err := backbone.Decode(data, backbone.DecodeOptions{})
			if err != nil {
				return fmt.Errorf("%s: %w", s.Path, err)
			}
			if data, err = w.copy(img); err != nil {
				return err
			}
		}
		w := i % len(ways)
		ending := cmp.Or(ways[w].ending, path.Ext(s.Path))
		if err := os.WriteFile(fmt.Sprintf("%s~%d%s", name, w, ending), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// measureCopies audits a folder that [plantCopies] made, and writes a line for each way: how many copies were made, and
// how many are in a group with their picture; and a line for the pairs of different pictures in a group.
func measureCopies(ctx context.Context, name, folder, model, to string) error {
	if _, err := ort.Open(ort.Config{}); err != nil {
		return err
	}
	in := inspect.Input{Images: location.At(folder), Features: folder + ".features", Model: model}
	a, err := inspect.Judge(ctx, in, inspect.Options{}, inspect.Host{})
	if err != nil {
		return err
	}
	planted, found, others := make([]int, len(ways)), make([]int, len(ways)), 0
	source := func(p string) (number, way string) {
		number, way, _ = strings.Cut(strings.TrimSuffix(path.Base(p), path.Ext(p)), "~")
		return number, way
	}
	for _, e := range a.Images {
		if _, w := source(e.Path); w != "" {
			k, err := strconv.Atoi(w)
			if err != nil {
				return err
			}
			planted[k]++
		}
	}
	for _, g := range a.Groups {
		for i, p := range g.Paths {
			number, _ := source(p)
			for _, q := range g.Paths[:i] {
				other, w := source(q)
				if other != number {
					others++
					log.Printf("%s: %s and %s", name, q, p)
					continue
				}
				if w == "" {
					_, w = source(p)
				}
				k, err := strconv.Atoi(w)
				if err != nil {
					return err
				}
				found[k]++
			}
		}
	}
	total, all := 0, 0
	for k, w := range ways {
		total, all = total+planted[k], all+found[k]
		if err := writeCopies(to, name, w.name, planted[k], found[k]); err != nil {
			return err
		}
	}
	log.Printf("%s: %d of %d copies, %d other pairs", name, all, total, others)
	return writeCopies(to, name, "other pairs", 0, others)
}

func writeCopies(to, name, way string, planted, found int) error {
	log.Printf("%s: %s: %d of %d", name, way, found, planted)
	return write(to, copiesHeader, []string{name, way, strconv.Itoa(planted), strconv.Itoa(found)})
}

var copiesHeader = []string{"set", "way", "planted", "found"}
