package backbone

import (
	"fmt"
	"image"
	"math"
	"testing"

	"github.com/disintegration/imaging"
	"pgregory.net/rapid"
)

// unchanged returns a preprocessing without normalisation, so that results can be compared as pixels.
func unchanged(resize, crop int, way string) Preprocessing {
	return Preprocessing{Resize: resize, Crop: crop, Interpolation: way, Channels: "RGB", Scale: 1,
		Std: [3]float32{1, 1, 1}}
}

// pixelsOf returns a result without normalisation as bytes, RGB interleaved.
func pixelsOf(dst []float32, side, planes int) []byte {
	out := make([]byte, len(dst))
	for i := range side * side {
		for c := range planes {
			out[planes*i+c] = byte(dst[c*side*side+i])
		}
	}
	return out
}

func run(t testing.TB, img image.Image, p Preprocessing) []float32 {
	t.Helper()
	dst := make([]float32, p.Size())
	for i := range dst {
		dst[i] = float32(math.NaN()) // every value must be overwritten
	}
	if err := Preprocess(dst, img, p); err != nil {
		t.Fatal(err)
	}
	for i, v := range dst {
		if v != v {
			t.Fatalf("value %d was not written", i)
		}
	}
	return dst
}

func resizePicture(t testing.TB) image.Image {
	t.Helper()
	img, err := Decode(readFile(t, "testdata/pil/resize.png"), DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestResizeAsPIL checks that resize and crop give PIL's bytes.
func TestResizeAsPIL(t *testing.T) {
	img := resizePicture(t)
	for _, way := range []string{"bilinear", "bicubic", "lanczos"} {
		for _, s := range [][2]int{{32, 28}, {33, 20}, {90, 57}, {47, 40}, {24, 36}} {
			name := fmt.Sprintf("resize-%s-%d-%d", way, s[0], s[1])
			want, _, _ := seenByPIL(t, "testdata/pil/"+name+".png")
			if mean, most := difference(pixelsOf(run(t, img, unchanged(s[0], s[1], way)), s[1], 3), want); most != 0 {
				t.Errorf("%s: differs by %.3f on average, %d at most", name, mean, most)
			}
		}
		exact := unchanged(40, 40, way)
		exact.Exact = true
		want, _, _ := seenByPIL(t, "testdata/pil/resize-"+way+"-exact-40.png")
		if _, most := difference(pixelsOf(run(t, img, exact), 40, 3), want); most != 0 {
			t.Errorf("%s exact: differs by %d", way, most)
		}
		want, _, _ = seenByPIL(t, "testdata/pil/resize-"+way+"-tall.png")
		across := run(t, imaging.Transpose(img), unchanged(31, 24, way))
		if _, most := difference(pixelsOf(across, 24, 3), want); most != 0 {
			t.Errorf("%s tall: differs by %d", way, most)
		}
	}
	grey := unchanged(40, 40, "bicubic")
	grey.Exact, grey.Channels = true, "L"
	want, _, _ := seenByPIL(t, "testdata/pil/resize-grey-exact-40.png")
	got := pixelsOf(run(t, img, grey), 40, 1)
	for i, v := range got {
		if v != want[3*i] {
			t.Fatalf("grey: pixel %d is %d, expected %d", i, v, want[3*i])
		}
	}
}

// general is the same preprocessing in the usual way: a whole NRGBA image, imaging's resize in floating point, crop.
func general(img image.Image, p Preprocessing, filter imaging.ResampleFilter) []byte {
	b := img.Bounds()
	full := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for i, rgb := 0, rgbOf(img); i < len(rgb)/3; i++ {
		copy(full.Pix[4*i:], []byte{rgb[3*i], rgb[3*i+1], rgb[3*i+2], 255})
	}
	rw, rh := p.targetSize(b.Dx(), b.Dy())
	resized := imaging.Resize(full, rw, rh, filter)
	x0, x1, left := centreCrop(rw, p.Crop)
	y0, y1, top := centreCrop(rh, p.Crop)
	out := make([]byte, 3*p.Crop*p.Crop)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			copy(out[3*((y-y0+top)*p.Crop+x-x0+left):][:3], resized.Pix[resized.PixOffset(x, y):])
		}
	}
	return out
}

var filters = map[string]imaging.ResampleFilter{"bilinear": imaging.Linear, "bicubic": imaging.CatmullRom,
	"lanczos": imaging.Lanczos}

// TestPhotographAsGeneral tests the usual case, in which both methods may differ in the last bit of one value in ten.
func TestPhotographAsGeneral(t *testing.T) {
	img, err := Decode(photographJPEG(t, 500, 375, 1), DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for way, filter := range filters {
		p := unchanged(256, 224, way)
		mean, most := difference(pixelsOf(run(t, img, p), 224, 3), general(img, p, filter))
		t.Logf("%s: mean %.5f, most %d", way, mean, most)
		if mean > 0.01 || most > 1 {
			t.Errorf("%s: differs by %.5f on average, %d at most", way, mean, most)
		}
	}
}

// slowly applies PIL's arithmetic without optimisation: it resizes the whole image, first horizontally, then
// vertically, computes every weight where it is used and rounds to bytes in between; then it crops.
func slowly(img image.Image, p Preprocessing) []byte {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	rw, rh := p.targetSize(w, h)
	k, _ := kernelOf(p.Interpolation)
	pixels := rgbOf(img)
	// axis resizes lines of samples; at returns the index of a sample if lines have size samples.
	axis := func(src []byte, in, out, lines int, at func(line, i, size int) int) []byte {
		if in == out {
			return src
		}
		dst := make([]byte, len(src)/in*out)
		scale := float64(in) / float64(out)
		stretch := math.Max(scale, 1)
		for i := range out {
			centre := (float64(i) + 0.5) * scale
			from, to := int(centre-k.support*stretch+0.5), int(centre+k.support*stretch+0.5)
			var sum float64
			for x := max(from, 0); x < min(to, in); x++ {
				sum += k.at((float64(x) - centre + 0.5) / stretch)
			}
			for line := range lines {
				total := 1 << 21
				for x := max(from, 0); x < min(to, in); x++ {
					weight := k.at((float64(x)-centre+0.5)/stretch) / sum * (1 << 22)
					total += int(weight+math.Copysign(0.5, weight)) * int(src[at(line, x, in)])
				}
				dst[at(line, i, out)] = uint8(min(max(total>>22, 0), 255))
			}
		}
		return dst
	}
	wide := axis(pixels, w, rw, 3*h, func(line, i, size int) int { return 3*(line/3*size+i) + line%3 })
	full := axis(wide, h, rh, 3*rw, func(line, i, _ int) int { return 3*rw*i + line })
	x0, x1, left := centreCrop(rw, p.Crop)
	y0, y1, top := centreCrop(rh, p.Crop)
	out := make([]byte, 3*p.Crop*p.Crop)
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			copy(out[3*((y-y0+top)*p.Crop+x-x0+left):][:3], full[3*(y*rw+x):])
		}
	}
	return out
}

// TestFusedAsSlow checks for random sizes, ratios and crops that the result equals the slow method to the byte, and
// imaging's float64 to within two (a tie may be rounded differently in each pass).
func TestFusedAsSlow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, h := rapid.IntRange(1, 90).Draw(r, "w"), rapid.IntRange(1, 90).Draw(r, "h")
		ratio := rapid.SampledFrom([]image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio444,
			image.YCbCrSubsampleRatio422,
			image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio440}).Draw(r, "ratio")
		img := image.NewYCbCr(image.Rect(0, 0, w, h), ratio)
		seed := rapid.Uint32().Draw(r, "seed")
		for _, plane := range [][]byte{img.Y, img.Cb, img.Cr} {
			for i := range plane {
				seed = seed*1664525 + 1013904223
				plane[i] = uint8(seed >> 24)
			}
		}
		way := rapid.SampledFrom([]string{"bilinear", "bicubic", "lanczos"}).Draw(r, "way")
		p := unchanged(rapid.IntRange(0, 60).Draw(r, "resize"), rapid.IntRange(1, 60).Draw(r, "crop"), way)
		p.Exact = p.Resize > 0 && rapid.Bool().Draw(r, "exact")
		dst := make([]float32, p.Size())
		if err := Preprocess(dst, img, p); err != nil {
			r.Fatal(err)
		}
		got := pixelsOf(dst, p.Crop, 3)
		if mean, most := difference(got, slowly(img, p)); most != 0 {
			r.Errorf("differs from the slow method by %.3f on average, %d at most", mean, most)
		}
		if _, most := difference(got, general(img, p, filters[way])); most > 2 {
			r.Errorf("differs from imaging by %d", most)
		}
	})
}

func TestNormalisation(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		copy(img.Pix[4*i:], []byte{10, 20, 30, 255})
	}
	p := Preprocessing{Crop: 6, Interpolation: "bilinear", Channels: "BGR", Scale: 0.5, Mean: [3]float32{1, 2, 3},
		Std: [3]float32{2, 4, 8}}
	dst := run(t, img, p)
	for c, want := range []float32{(15 - 1) / 2., (10 - 2) / 4., (5 - 3) / 8.} {
		plane := dst[36*c : 36*(c+1)]
		if plane[7] != want || plane[28] != want {
			t.Errorf("channel %d is %v, expected %v", c, plane[7], want)
		}
		if padding := -p.Mean[c] / p.Std[c]; plane[0] != padding || plane[35] != padding {
			t.Errorf("padding of channel %d is %v, expected black, %v", c, plane[0], padding)
		}
	}
	p.Channels = "L"
	if got := run(t, img, p); got[7] != (18*0.5-1)/2 { // (19595·10 + 38470·20 + 7471·30 + 2¹⁵) / 2¹⁶ = 18
		t.Errorf("grey is %v", got[7])
	}
}

func TestGeometryAsTorchvision(t *testing.T) {
	for _, c := range []struct{ w, h, rw, rh int }{
		{500, 375, 341, 256}, {375, 500, 256, 341}, {256, 256, 256, 256}, {1, 1000, 256, 256000},
		{640, 480, 341, 256}, {100, 33, 775, 256},
	} {
		if rw, rh := unchanged(256, 224, "bilinear").targetSize(c.w, c.h); rw != c.rw || rh != c.rh {
			t.Errorf("%d×%d becomes %d×%d, expected %d×%d", c.w, c.h, rw, rh, c.rw, c.rh)
		}
	}
	// Computed with int(round((n-crop)/2.0)) in Python, where halves are rounded to the even number.
	for _, c := range [][3]int{{256, 224, 16}, {341, 224, 58}, {339, 224, 58}, {227, 224, 2}, {225, 224, 0},
		{229, 224, 2}, {231, 224, 4}} {
		if lo, hi, pad := centreCrop(c[0], c[1]); lo != c[2] || hi != lo+224 || pad != 0 {
			t.Errorf("crop of %d begins at %d, expected %d", c[0], lo, c[2])
		}
	}
	if lo, hi, pad := centreCrop(5, 8); lo != 0 || hi != 5 || pad != 1 {
		t.Errorf("crop 8 of 5: %d to %d at %d", lo, hi, pad)
	}
}
