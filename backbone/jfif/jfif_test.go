package jfif

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Package backbone compares pixels with PIL's, to the bit. The tests here compare samples with the standard library's
// decoder, which rounds differently, and the transform with its formula.

// painted returns a JPEG of shading and noise, written by the standard library with chroma at a quarter.
func painted(t testing.TB, w, h, quality int) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			wave := func(k float64) uint8 {
				return uint8(128 + 80*math.Sin(float64(x)/k)*math.Cos(float64(y)/(k+3)) + 12*rng.NormFloat64())
			}
			img.SetNRGBA(x, y, color.NRGBA{wave(40), wave(17), wave(90), 255})
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fixtures returns the photographs that package backbone compares with PIL.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("../testdata/pil/*.jpg")
	if err != nil || len(names) < 10 {
		t.Fatalf("found %v, %v", names, err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

// farthest returns the largest difference between the samples of two images of the same kind.
func farthest(t *testing.T, got, want image.Image) int {
	t.Helper()
	if got.Bounds() != want.Bounds() {
		t.Fatalf("bounds %v, expected %v", got.Bounds(), want.Bounds())
	}
	most := 0
	far := func(a, b uint8) { most = max(most, int(a)-int(b), int(b)-int(a)) }
	b := got.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			switch got := got.(type) {
			case *image.Gray:
				far(got.GrayAt(x, y).Y, want.(*image.Gray).GrayAt(x, y).Y)
			case *image.YCbCr:
				w := want.(*image.YCbCr)
				if got.SubsampleRatio != w.SubsampleRatio {
					t.Fatalf("chroma %v, expected %v", got.SubsampleRatio, w.SubsampleRatio)
				}
				a, b := got.YCbCrAt(x, y), w.YCbCrAt(x, y)
				far(a.Y, b.Y)
				far(a.Cb, b.Cb)
				far(a.Cr, b.Cr)
			}
		}
	}
	return most
}

func TestDecode(t *testing.T) {
	files := fixtures(t)
	for _, size := range [][2]int{{1, 1}, {7, 9}, {8, 8}, {16, 16}, {17, 33}, {160, 121}} {
		for _, quality := range []int{20, 75, 100} {
			files[string(rune('a'+size[0]))+string(rune('a'+quality))] = painted(t, size[0], size[1], quality)
		}
	}
	for name, data := range files {
		want, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeScaled(data, 1)
		if strings.Contains(name, "cmyk") {
			if err != errNotTaken {
				t.Errorf("%s: found %v, %v", name, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if most := farthest(t, got, want); most > 2 {
			t.Errorf("%s: differs by %d", name, most)
		}
	}
}

// Samples of random blocks equal those of the formula (A.3.3), rounded, to within one. With one cosine wrong by a
// thousandth they must not.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var quant [64]int32
	for i := range quant {
		quant[i] = int32(1 + rng.IntN(20))
	}
	wrong, spoiled := 0, 0
	for range 200 {
		var coefs [64]int16
		coefs[0] = int16(rng.IntN(400)-200) / int16(quant[0])
		for range rng.IntN(20) {
			i := rng.IntN(64)
			coefs[i] = int16(rng.IntN(300)-150) / int16(quant[i])
		}
		dst := make([]byte, 8*11)
		invertDCT(dst, 11, &coefs, &quant)
		for y := range 8 {
			for x := range 8 {
				if math.Abs(float64(dst[11*y+x])-formula(&coefs, &quant, x, y, 0)) > 1.001 {
					wrong++
				}
				if math.Abs(float64(dst[11*y+x])-formula(&coefs, &quant, x, y, 0.02)) > 1.001 {
					spoiled++
				}
			}
			for x := 8; x < 11 && 11*y+x < len(dst); x++ {
				if dst[11*y+x] != 0 {
					t.Fatal("wrote beyond its block")
				}
			}
		}
	}
	if wrong > 0 || spoiled == 0 {
		t.Errorf("%d samples differ from the formula, %d from a spoiled one", wrong, spoiled)
	}
}

// formula returns sample x, y of a block: ¼ Σ_v Σ_u C_u·C_v·S_vu·cos((2x+1)uπ/16)·cos((2y+1)vπ/16) + 128, within 0 …
// 255.
func formula(coefs *[64]int16, quant *[64]int32, x, y int, off float64) float64 {
	return min(max(unbounded(coefs, quant, x, y, off), 0), 255)
}

func unbounded(coefs *[64]int16, quant *[64]int32, x, y int, off float64) float64 {
	sum := 0.0
	for v := range 8 {
		for u := range 8 {
			c := 1.0
			if u == 0 {
				c /= math.Sqrt2
			}
			if v == 0 {
				c /= math.Sqrt2
			}
			sum += c * float64(int32(coefs[8*v+u])*quant[8*v+u]) * math.Cos(float64((2*x+1)*u)*math.Pi/16+off) *
				math.Cos(float64((2*y+1)*v)*math.Pi/16)
		}
	}
	return sum/4 + 128
}

// restarts returns a grey image of 8×8 blocks with one level each, and a restart marker after every two blocks. Each
// level is stored as a difference to the previous one, after a marker as a difference to zero.
func restarts(levels []int) []byte {
	out := []byte{0xff, soi, 0xff, dqt, 0, 67, 0}
	for range 64 {
		out = append(out, 8) // a coefficient of 1 is one grey level
	}
	n := byte(len(levels))
	out = append(out, 0xff, sof0, 0, 11, 8, 0, 8, 0, 8*n, 1, 1, 0x11, 0)
	codes := func(class byte, values ...byte) {
		out = append(out, 0xff, dht, 0, byte(19+len(values)), class, 0, 0, 0, byte(len(values)))
		out = append(append(out, make([]byte, 12)...), values...)
	}
	codes(0x00, 0, 1, 2, 3, 4, 5, 6, 7, 8) // codes of four bits: the value itself
	codes(0x10, 0)                         // 0000: no more coefficients
	out = append(out, 0xff, dri, 0, 4, 0, 2, 0xff, sos, 0, 8, 1, 1, 0, 0, 63, 0)
	for i := 0; i < len(levels); i += 2 {
		if i > 0 {
			out = append(out, 0xff, rst0+byte(i/2-1)%8)
		}
		bits, count, last := uint64(0), 0, 0
		put := func(v, n int) { bits, count = bits<<n|uint64(v), count+n }
		for _, level := range levels[i:min(i+2, len(levels))] {
			d, size := level-last, 0
			for max(d, -d)>>size > 0 {
				size++
			}
			if last = level; d < 0 {
				d += 1<<size - 1
			}
			put(size, 4)
			put(d, size)
			put(0, 4)
		}
		for count%8 != 0 {
			put(1, 1)
		}
		for ; count > 0; count -= 8 {
			b := byte(bits >> (count - 8))
			if out = append(out, b); b == 0xff {
				out = append(out, 0)
			}
		}
	}
	return append(out, 0xff, eoi)
}

func TestRestarts(t *testing.T) {
	levels := []int{10, -20, 100, 100, -128, 127, 0, 1, -1, 64, 65, 63, 5, 4, 3, 2, 1, 0, -3, 60, 61}
	data := restarts(levels)
	img, err := DecodeScaled(data, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, level := range levels {
		if got := img.(*image.Gray).GrayAt(8*i+3, 5).Y; int(got) != level+128 {
			t.Errorf("block %d: found %d, expected %d", i, got, level+128)
		}
	}
	if want, err := jpeg.Decode(bytes.NewReader(data)); err != nil || farthest(t, img, want) > 0 {
		t.Errorf("the standard library decodes other samples, %v", err)
	}
	at := bytes.Index(data, []byte{0xff, rst0 + 1})
	data[at+1] = rst0 + 2
	if _, err := DecodeScaled(data, 1); err != errNotTaken {
		t.Errorf("restart markers in the wrong order: %v", err)
	}
}

// TestCut checks that every truncated file is an error.
func TestCut(t *testing.T) {
	files := fixtures(t)
	files["restarts"] = restarts([]int{1, 2, 3, 4, 5})
	for name, data := range files {
		for n := range len(data) - 1 {
			if img, err := DecodeScaled(data[:n], 1); err == nil {
				t.Errorf("%s: %d of %d bytes gave %v", name, n, len(data), img.Bounds())
				break
			}
		}
	}
}

// TestHuge checks that a header does not make the decoder allocate memory for an image without data.
func TestHuge(t *testing.T) {
	data := painted(t, 16, 16, 90)
	at := bytes.Index(data, []byte{0xff, sof0})
	binary.BigEndian.PutUint32(data[at+5:], 0xfff0fff0)
	if n := testing.AllocsPerRun(1, func() {
		if _, err := DecodeScaled(data, 1); err != errNotTaken {
			t.Errorf("found %v", err)
		}
	}); n > 20 {
		t.Errorf("%v allocations", n)
	}
	d := &decoder{data: data}
	if d.readFrame([]byte{8, 0xff, 0xf0, 0xff, 0xf0, 1, 1, 0x11, 0}, true) ||
		d.comps != nil && d.comps[0].plane != nil {
		t.Error("the planes of 65520×65520 were made for a small file")
	}
}

// FuzzDecode checks that any bytes give an error or an image of the size that the standard library reads.
func FuzzDecode(f *testing.F) {
	for _, data := range fixtures(f) {
		f.Add(data)
	}
	f.Add(restarts([]int{9, 8, 7}))
	f.Add(painted(f, 20, 12, 80))
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := DecodeScaled(data, 1)
		for _, by := range []int{2, 4, 8} {
			small, failed := DecodeScaled(data, by)
			if (failed == nil) != (err == nil) {
				t.Fatalf("by %d: %v, whole: %v", by, failed, err)
			}
			if err == nil && small.Bounds().Dx() != divideUp(img.Bounds().Dx(), by) {
				t.Errorf("by %d: %v of %v", by, small.Bounds(), img.Bounds())
			}
		}
		if err != nil {
			return
		}
		c, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return // this decoder is stricter about bytes before the frame
		}
		if b := img.Bounds(); b.Dx() != c.Width || b.Dy() != c.Height {
			t.Errorf("found %v, expected %d×%d", b, c.Width, c.Height)
		}
	})
}
