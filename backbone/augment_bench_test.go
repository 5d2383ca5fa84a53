package backbone

import (
	"fmt"
	"image"
	"math/rand/v2"
	"testing"
)

// BenchmarkViews measures views per second on one core, compared with the evaluation view ("none"), from a
// decoded 500×375 JPEG at 224² and from a 32×32 picture at 32².
func BenchmarkViews(b *testing.B) {
	photo, err := Decode(photographJPEG(b, 500, 375, 1), DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	small := imageNet
	small.Resize, small.Crop = 0, 32
	for _, size := range []struct {
		p   Preprocessing
		img image.Image
	}{{imageNet, photo}, {small, photograph(32, 32, 2)}} {
		for _, r := range Recipes() {
			v, err := NewViewer(size.p, r.Augmentation)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%d/%s", size.p.Crop, r.Name), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				dst := make([]float32, size.p.Size())
				b.ReportAllocs()
				for b.Loop() {
					if err := v.Into(dst, size.img, rng); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "views/s")
			})
		}
	}
}

// BenchmarkReduced measures a prism view at 112² from a decoded 500×375 JPEG and from the same picture kept at
// 128².
func BenchmarkReduced(b *testing.B) {
	photo, err := Decode(photographJPEG(b, 500, 375, 1), DecodeOptions{})
	if err != nil {
		b.Fatal(err)
	}
	p := imageNet
	p.Resize, p.Crop = 128, 112
	prism, err := ParseAugmentation("prism")
	if err != nil {
		b.Fatal(err)
	}
	v, err := NewViewer(p, prism)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float32, p.Size())
	for _, c := range []struct {
		name string
		img  image.Image
	}{{"whole", photo}, {"reduced", v.reducePicture(photo)}} {
		b.Run(c.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			for b.Loop() {
				if err := v.Into(dst, c.img, rng); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "views/s")
			b.ReportMetric(float64(bytesOf(c.img)), "bytes")
		})
	}
}

// BenchmarkImageCache measures the cost of a 500×375 JPEG in a training step: decoded, or from memory.
func BenchmarkImageCache(b *testing.B) {
	fsys := oneFile(photographJPEG(b, 500, 375, 1))
	for name, limit := range map[string]int64{"decoded": 0, "kept": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			c := NewImageCache(fsys, []string{"a.jpg"}, limit, DecodeOptions{})
			for b.Loop() {
				if _, err := c.Image(0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
