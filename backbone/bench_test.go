package backbone

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/imaging"
)

// photograph returns an image with the statistics of a photograph: shading over six octaves (amplitude falls with
// frequency), and soft and hard edges in colour. As a JPEG of 500×375 pixels with quality 92 and halved chroma it has
// about 60 kB, like real photographs of this size.
func photograph(w, h int, seed uint64) *image.NRGBA {
	rng := rand.New(rand.NewPCG(seed, 1))
	type wave struct{ kx, ky, phase, r, g, b float64 }
	var waves []wave
	for octave := range 7 {
		k := math.Exp2(float64(octave)) / float64(w) * 2 * math.Pi
		for range 5 {
			angle, a := rng.Float64()*2*math.Pi, 40/math.Pow(float64(octave+1), 0.9)
			waves = append(waves, wave{k * math.Cos(angle), k * math.Sin(angle), rng.Float64() * 7,
				a * rng.NormFloat64(), a * rng.NormFloat64(), a * rng.NormFloat64()})
		}
	}
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			r, g, b := 120.0, 125.0, 110.0
			for _, v := range waves {
				s := math.Sin(v.kx*float64(x) + v.ky*float64(y) + v.phase)
				r, g, b = r+s*v.r, g+s*v.g, b+s*v.b
			}
			if math.Hypot(float64(x-w/2), float64(y-h/2)) < float64(h)/4 {
				r, g, b = g, b, r
			}
			n := rng.NormFloat64() * 4 // sensor noise
			copy(img.Pix[img.PixOffset(x, y):],
				[]byte{clip8(int32(r + n)), clip8(int32(g + n)), clip8(int32(b + n)), 255})
		}
	}
	return img
}

func photographJPEG(t testing.TB, w, h int, seed uint64) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, photograph(w, h, seed), &jpeg.Options{Quality: 92}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// imageNet is the preprocessing of most published networks.
var imageNet = Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
	Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}

// BenchmarkPicture measures the work for one 500×375 JPEG on one core: decoding, winnow's preprocessing, and for
// comparison the usual preprocessing (full image, imaging, crop, normalise).
func BenchmarkPicture(b *testing.B) {
	data := photographJPEG(b, 500, 375, 1)
	img, err := Decode(data, DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bytes", len(data))
	q, err := NewPreprocessor(imageNet)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float32, imageNet.Size())
	perSecond := func(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "img/s") }
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(data, DecodeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
	b.Run("fused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := q.Into(dst, img); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
	b.Run("general", func(b *testing.B) {
		for b.Loop() {
			pixels := general(img, imageNet, imaging.Linear)
			for i := range 224 * 224 {
				for c := range 3 {
					dst[c*224*224+i] = q.levels[c][pixels[3*i+c]]
				}
			}
		}
		perSecond(b)
	})
	b.Run("decode+fused", func(b *testing.B) {
		for b.Loop() {
			img, err := Decode(data, DecodeOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := q.Into(dst, img); err != nil {
				b.Fatal(err)
			}
		}
		perSecond(b)
	})
}
