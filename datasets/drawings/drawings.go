// Package drawings makes the dataset of winnow quickstart: 720 images of 24 animals, fruits, vehicles and other things
// that everybody recognises, so that a wrong label is seen at a glance. Openly licensed drawings (art/LICENCE) are
// scaled, turned, shaded and placed on textures. A tenth of the labels are wrong, half of them in favour of a similar
// class; six images are duplicates, and three show something else.
package drawings

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/disintegration/imaging"
	"golang.org/x/image/webp"

	"winnow/datasets"
)

// art holds the drawings, named class-number-set.webp.
//
//go:embed art/*.webp
var art embed.FS

const (
	perClass   = 30
	side       = 128 // of an image, in pixels
	mistakes   = 70  // besides two duplicates with a wrong label, and the outliers
	outliers   = 3
	duplicates = 6
	other      = "something" // class of the drawings that show something else, which outliers get
)

// similar lists pairs of classes that are easily confused.
var similar = strings.Fields("apple tomato bus taxi cat tiger coffee tea dog wolf guitar violin lion fox mouse " +
	"rabbit orange pear owl penguin")

// A picture is a painted image with its labels.
type picture struct {
	given, shown string
	image.Image
}

// New returns the dataset with its images as JPEG files, named given/shown-number.jpg by the given label and by what
// they show.
func New(ctx context.Context, seed uint64) (*datasets.Dataset, fs.FS, error) {
	drawn, err := readArt()
	if err != nil {
		return nil, nil, err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	list, err := paintAll(ctx, rng, drawn)
	if err != nil {
		return nil, nil, err
	}
	rng.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	d, files := &datasets.Dataset{Classes: slices.Sorted(maps.Keys(drawn))}, fstest.MapFS{}
	for i, p := range list {
		given, _ := slices.BinarySearch(d.Classes, p.given)
		shown, _ := slices.BinarySearch(d.Classes, p.shown)
		name := fmt.Sprintf("%s/%s-%03d.jpg", p.given, p.shown, i)
		var file bytes.Buffer
		if err := imaging.Encode(&file, p.Image, imaging.JPEG, imaging.JPEGQuality(88)); err != nil {
			return nil, nil, err
		}
		files[name] = &fstest.MapFile{Data: file.Bytes()}
		d.Samples = append(d.Samples, datasets.Sample{Path: name, Label: given, True: shown, Split: datasets.Train})
	}
	slices.SortFunc(d.Samples, func(a, b datasets.Sample) int { return strings.Compare(a.Path, b.Path) })
	return d, files, nil
}

// readArt returns the drawings of each class.
func readArt() (map[string][]image.Image, error) {
	drawn := map[string][]image.Image{}
	names, err := fs.Glob(art, "art/*.webp")
	for _, name := range names {
		data, err := art.ReadFile(name)
		if err != nil {
			return nil, err
		}
		img, err := webp.Decode(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("drawings: %s: %w", name, err)
		}
		class, _, _ := strings.Cut(path.Base(name), "-")
		drawn[class] = append(drawn[class], img)
	}
	return drawn, err
}

// paintAll paints all images: first those with wrong labels, then the outliers, and last the duplicates.
func paintAll(ctx context.Context, rng *rand.Rand, drawn map[string][]image.Image) (list []picture, err error) {
	classes := slices.DeleteFunc(slices.Sorted(maps.Keys(drawn)), func(class string) bool { return class == other })
	total := perClass * len(classes)
	for i, at := range rng.Perm(total) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		class := classes[at%len(classes)]
		p, copied, pair := picture{given: class, shown: class}, i-(total-duplicates), slices.Index(similar, class)
		if copied >= 0 {
			p = list[mistakes+outliers+copied]
			p.Image = imaging.AdjustBrightness(p.Image, 2)
		}
		switch {
		case i < mistakes && i%2 == 0 && pair >= 0:
			p.given = similar[pair^1]
		case i < mistakes || copied == 0 || copied == 1:
			for p.given == p.shown {
				p.given = classes[rng.IntN(len(classes))]
			}
		case i < mistakes+outliers:
			p.shown = other
		}
		if copied < 0 {
			all := drawn[p.shown]
			p.Image = paintImage(rng, all[at/len(classes)%len(all)])
		}
		list = append(list, p)
	}
	return list, nil
}

// paintImage places a drawing with its shadow on a texture.
func paintImage(rng *rand.Rand, drawing image.Image) image.Image {
	vary := func(most float64) float64 { return most * (2*rng.Float64() - 1) }
	size := drawing.Bounds().Size()
	scale := (116 + 28*rng.Float64()) / math.Hypot(float64(size.X), float64(size.Y))
	img := imaging.Resize(drawing, int(scale*float64(size.X)), 0, imaging.CatmullRom)
	if rng.IntN(2) == 0 {
		img = imaging.FlipH(img)
	}
	img = imaging.Rotate(img, vary(16), color.Transparent)
	img = imaging.AdjustSaturation(imaging.AdjustBrightness(imaging.AdjustContrast(img, vary(18)), vary(10)), vary(25))
	shadow := imaging.AdjustFunc(img, func(c color.NRGBA) color.NRGBA { return color.NRGBA{A: c.A} })
	shadow = imaging.Blur(imaging.Paste(imaging.New(side, side, color.Transparent), shadow, image.Point{}), 2.5)
	size = img.Bounds().Size()
	at := image.Pt((side-size.X)/2+int(vary(9)), (side-size.Y)/2+int(vary(9)))
	canvas := imaging.Overlay(paintTexture(rng), shadow, at.Add(image.Pt(int(vary(6)), 5)), .45)
	return imaging.Blur(imaging.Overlay(canvas, img, at, 1), .1+.5*rng.Float64())
}

// paintTexture paints a plain ground, stripes, checks or rings in two similar light colours, with light from one side.
func paintTexture(rng *rand.Rand) *image.NRGBA {
	var tones [2][3]float64
	hue, light := rng.Float64(), 190+50*rng.Float64()
	for k := range tones {
		for c := range 3 {
			wave := math.Cos(2 * math.Pi * (hue + float64(c)/3 + .07*float64(k)))
			tones[k][c] = light * (.86 + .14*wave) * (1 - .06*float64(k))
		}
	}
	pattern := []func(u, v float64) float64{
		func(u, v float64) float64 { return 0 },
		func(u, v float64) float64 { return math.Sin(u) },
		func(u, v float64) float64 { return 2 * math.Sin(u) * math.Sin(v) },
		func(u, v float64) float64 { return math.Sin(1.5 * math.Hypot(u+20, v/4)) },
	}[rng.IntN(4)]
	period := (7 + 16*rng.Float64()) / (2 * math.Pi)
	sin, cos := math.Sincos(math.Pi * rng.Float64())
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		x, y := float64(i%side), float64(i/side)
		mix := min(max(.5+pattern((x*cos+y*sin)/period, (y*cos-x*sin)/period), 0), 1)
		shade, grain := 1+.25*(x*sin-y*cos)/side, 9*(rng.Float64()-.5)
		for c := range 3 {
			img.Pix[4*i+c] = uint8(min(max((tones[0][c]*(1-mix)+tones[1][c]*mix)*shade+grain, 0), 255))
		}
		img.Pix[4*i+3] = 255
	}
	return img
}
