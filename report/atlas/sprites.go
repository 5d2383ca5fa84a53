package atlas

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
)

// ThumbnailSide returns how wide the pictures of n points should be, so that the page does not become too
// large.
func ThumbnailSide(n int) int {
	switch {
	case n <= 2000:
		return 64
	case n <= 5000:
		return 48
	}
	return 32
}

// acrossSheet is the number of pictures in a row of a sheet, and of rows on it.
const acrossSheet = 32

// sprites are many small pictures on a few sheets.
type sprites struct {
	Side   int // pixels of a picture's tile
	Sheets [][]byte
}

// makeSprites puts pictures on sheets, point i on tile i; a missing one (nil) leaves its tile white. Tiles are
// as wide as the widest picture, in multiples of 16 pixels, the block size of JPEG with halved chroma, so that
// no picture bleeds into another. Quality falls until all sheets fit into budget bytes. If even poor ones do
// not fit, there are none.
func makeSprites(pictures []image.Image, budget int) (sprites, error) {
	tile := 16
	for _, p := range pictures {
		if p != nil {
			tile = max(tile, (p.Bounds().Dx()+15)/16*16, (p.Bounds().Dy()+15)/16*16)
		}
	}
	sheets := make([]*image.RGBA, 0, len(pictures)/(acrossSheet*acrossSheet)+1)
	for i, p := range pictures {
		k, on := i/(acrossSheet*acrossSheet), i%(acrossSheet*acrossSheet)
		if on == 0 {
			rows := min(acrossSheet, (len(pictures)-i+acrossSheet-1)/acrossSheet)
			sheets = append(sheets, image.NewRGBA(image.Rect(0, 0, acrossSheet*tile, rows*tile)))
			draw.Draw(sheets[k], sheets[k].Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
		}
		if p == nil {
			continue
		}
		size := p.Bounds().Size()
		corner := image.Pt(on%acrossSheet*tile+(tile-size.X)/2, on/acrossSheet*tile+(tile-size.Y)/2)
		draw.Draw(sheets[k], image.Rectangle{corner, corner.Add(size)}, p, p.Bounds().Min, draw.Over)
	}
	for _, quality := range []int{85, 70, 55, 40, 25} {
		out, size := sprites{Side: tile}, 0
		for _, s := range sheets {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, s, &jpeg.Options{Quality: quality}); err != nil {
				return sprites{}, err
			}
			out.Sheets = append(out.Sheets, b.Bytes())
			size += b.Len()
		}
		if size <= budget {
			return out, nil
		}
	}
	return sprites{}, nil
}
