package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
)

// smaller re-encodes a PNG with at most 256 colours.
func smaller(data []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, fewer(img, 256))
	return b.Bytes(), err
}

// fewer returns an image with at most n colours: an eighth are the most frequent colours, the others are frequent
// colours far from all others. Every pixel gets the nearest colour.
func fewer(img image.Image, n int) *image.Paletted {
	counts := map[color.RGBA]int{}
	bounds := img.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[solid(img, x, y)]++
		}
	}
	colours := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	few := color.Palette{}
	index, off := make(map[color.RGBA]uint8, len(colours)), make([]int, len(colours))
	for i := range off {
		off[i] = math.MaxInt
	}
	for len(few) < min(n, len(colours)) {
		next := len(few)
		if most := -1.; next >= n/8 {
			for i, d := range off {
				if weight := float64(d) * math.Sqrt(float64(counts[colours[i]])); weight > most {
					next, most = i, weight
				}
			}
		}
		for i, c := range colours {
			if d := apart(c, colours[next]); d < off[i] {
				off[i], index[c] = d, uint8(len(few))
			}
		}
		few = append(few, colours[next])
	}
	out := image.NewPaletted(bounds, few)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, index[solid(img, x, y)])
		}
	}
	return out
}

// solid removes invisible detail from a pixel: the lowest two bits of each channel.
func solid(img image.Image, x, y int) color.RGBA {
	r, g, b, _ := img.At(x, y).RGBA()
	part := func(v uint32) uint8 { v = v >> 10 << 2; return uint8(v | v>>6) }
	return color.RGBA{part(r), part(g), part(b), 255}
}

func apart(a, b color.RGBA) int {
	r, g, bl := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + bl*bl
}
