package backbone

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
)

// firstFrame decodes the first frame of a GIF and places it on the logical screen. The rest of the screen gets the
// transparent colour or colour 0, as in PIL. Transparent pixels keep their palette colour; the standard library would
// turn them black.
func firstFrame(data []byte) (image.Image, error) {
	flags, background := gifTransparency(data)
	if flags > 0 {
		data = bytes.Clone(data)
		data[flags] &^= 1
	}
	img, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	config, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	screen := image.Rect(0, 0, config.Width, config.Height)
	frame, ok := img.(*image.Paletted)
	if !ok {
		return img, nil
	}
	for len(frame.Palette) < 256 { // the index of the transparent colour may exceed the palette
		frame.Palette = append(frame.Palette, color.RGBA{A: 255})
	}
	if frame.Rect == screen {
		return img, nil
	}
	canvas := image.NewPaletted(screen, frame.Palette)
	for i := range canvas.Pix {
		canvas.Pix[i] = background
	}
	for y := frame.Rect.Min.Y; y < frame.Rect.Max.Y; y++ {
		row := frame.Pix[frame.PixOffset(frame.Rect.Min.X, y):][:frame.Rect.Dx()]
		copy(canvas.Pix[canvas.PixOffset(frame.Rect.Min.X, y):], row)
	}
	return canvas, nil
}

// gifTransparency finds the graphic control block of the first frame. It returns the offset of the block's flags (0
// without a block or without transparency) and the index of the transparent colour. Source: CompuServe, Graphics
// Interchange Format 89a, sections 18, 19, 23.
func gifTransparency(data []byte) (flags int, index uint8) {
	const screen, blockStart, control, descriptor = 13, 0x21, 0xf9, 0x2c
	if len(data) < screen {
		return 0, 0
	}
	at := screen
	if data[10]&0x80 != 0 {
		at += 3 << (data[10]&7 + 1)
	}
	for at+8 <= len(data) && data[at] == blockStart {
		if data[at+1] == control {
			flags, index = 0, 0
			if data[at+3]&1 != 0 {
				flags, index = at+3, data[at+6]
			}
		}
		at += 2
		for at < len(data) && data[at] != 0 { // a block is a chain of sub-blocks of up to 255 bytes
			at += 1 + int(data[at])
		}
		at++
	}
	if at >= len(data) || data[at] != descriptor {
		return 0, 0
	}
	return flags, index
}
