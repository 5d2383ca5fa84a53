//go:build unix

package backbone_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"testing"
	"time"

	"winnow/backbone"
)

// BenchmarkDecoder measures how many JPEG files of several sizes one core prepares for a network of 224 pixels,
// with either decoder. The two take turns; img/s are by processor time, which other work on the machine changes
// little.
func BenchmarkDecoder(b *testing.B) {
	p := backbone.Preprocessing{Resize: 256, Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	for _, size := range [][2]int{{500, 375}, {800, 600}, {1200, 900}, {2400, 1800}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			var file bytes.Buffer
			if err := jpeg.Encode(&file, backbone.Photograph(size[0], size[1], 1),
				&jpeg.Options{Quality: 92}); err != nil {
				b.Fatal(err)
			}
			b.Logf("%d bytes", file.Len())
			exact, fast := reading(b, p), reading(b, with(p, backbone.FastDecoder))
			var took [2]time.Duration
			n := 1 + 2_000_000/(size[0]*size[1])
			b.ResetTimer()
			for b.Loop() {
				for i, read := range []func([]byte){exact, fast} {
					before := processorTime(b)
					for range n {
						read(file.Bytes())
					}
					took[i] += processorTime(b) - before
				}
			}
			for i, name := range []string{"exact-img/s", "fast-img/s"} {
				b.ReportMetric(float64(n*b.N)/took[i].Seconds(), name)
			}
			b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "times")
		})
	}
}

func with(p backbone.Preprocessing, decoder string) backbone.Preprocessing {
	p.Decoder = decoder
	return p
}

// reading prepares a file's picture for a network.
func reading(b *testing.B, p backbone.Preprocessing) func(data []byte) {
	q, err := backbone.NewPreprocessor(p)
	if err != nil {
		b.Fatal(err)
	}
	dst, o := make([]float32, p.Size()), p.DecodeOptions()
	return func(data []byte) {
		img, err := backbone.Decode(data, o)
		if err != nil {
			b.Fatal(err)
		}
		if err := q.Into(dst, img); err != nil {
			b.Fatal(err)
		}
	}
}
