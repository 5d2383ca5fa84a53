package packed_test

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"testing"

	"winnow/backbone"
	"winnow/datasets/packed"
)

// BenchmarkImage builds an image's file, decodes it and prepares it for a network, on one core; png does the same
// with an uncompressed PNG of the same image that is ready in memory.
func BenchmarkImage(b *testing.B) {
	for _, c := range []struct {
		name           string
		side, channels int
		planes         string
	}{{"digit", 28, 1, "L"}, {"colour", 32, 3, "RGB"}} {
		pixels := make([]byte, c.side*c.side*c.channels)
		for i := range pixels {
			pixels[i] = byte(i * 7)
		}
		m := packed.Images{Folder: "train", Width: c.side, Height: c.side, Channels: c.channels, Count: 1000,
			Pixels: func(int) []byte { return pixels }}
		files := packed.FS(m)
		q, err := backbone.NewPreprocessor(backbone.Preprocessing{Resize: c.side, Exact: true, Crop: c.side,
			Interpolation: "bilinear", Channels: c.planes, Scale: 1, Std: [3]float32{1, 1, 1}})
		if err != nil {
			b.Fatal(err)
		}
		dst := make([]float32, c.side*c.side*c.channels)
		prepare := func(b *testing.B, data []byte) {
			img, err := backbone.Decode(data, backbone.DecodeOptions{})
			if err == nil {
				err = q.Into(dst, img)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		b.Run(c.name+"/bmp", func(b *testing.B) {
			for i := range b.N {
				data, err := fs.ReadFile(files, m.Path(i%m.Count))
				if err != nil {
					b.Fatal(err)
				}
				prepare(b, data)
			}
		})
		b.Run(c.name+"/png", func(b *testing.B) {
			var img image.Image = &image.Gray{Pix: pixels, Stride: c.side, Rect: image.Rect(0, 0, c.side, c.side)}
			if c.channels == 3 {
				img = &image.NRGBA{Pix: bytes.Repeat(pixels[:c.side*c.side], 4), Stride: 4 * c.side,
					Rect: image.Rect(0, 0, c.side, c.side)}
			}
			var data bytes.Buffer
			if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&data, img); err != nil {
				b.Fatal(err)
			}
			for range b.N {
				prepare(b, data.Bytes())
			}
		})
	}
}
