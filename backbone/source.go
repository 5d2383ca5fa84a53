package backbone

import (
	"image"
	"image/color"
)

// source reads an image row by row as RGB bytes, three per pixel, as PIL's convert("RGB") makes them. Alpha is
// dropped, palettes are looked up, and the upper 8 of 16 bits are used. Only 16-bit grey differs from PIL, which clips
// it at 255, so that nearly all is white. A source may keep scratch memory: use it from one goroutine at a time.
type source interface {
	sourceSize() (width, height int)
	readSourceRow(dst []byte, y, x0, x1 int) // pixels x0 ≤ x < x1 of row y
}

// sourceOf returns a source for any image; it is fast for the types that the decoders return.
func sourceOf(img image.Image) source {
	b := img.Bounds()
	at := func(stride, bytes, y, x int) int { return y*stride + x*bytes } // all cases below have their origin at (0, 0)
	if b.Min != (image.Point{}) {
		return &anyPicture{img: img, w: b.Dx(), h: b.Dy(), min: b.Min}
	}
	f := flatPicture{w: b.Dx(), h: b.Dy()}
	switch m := img.(type) {
	case *image.YCbCr:
		return newPlanes(m)
	case *image.Gray:
		f.copy = func(dst []byte, y, x0, x1 int) { spreadGrey(dst, m.Pix[at(m.Stride, 1, y, x0):], 1) }
	case *image.Gray16:
		f.copy = func(dst []byte, y, x0, x1 int) { spreadGrey(dst, m.Pix[at(m.Stride, 2, y, x0):], 2) }
	case *image.NRGBA:
		f.copy = func(dst []byte, y, x0, x1 int) { pickSamples(dst, m.Pix[at(m.Stride, 4, y, x0):], 4, 1) }
	case *image.NRGBA64:
		f.copy = func(dst []byte, y, x0, x1 int) { pickSamples(dst, m.Pix[at(m.Stride, 8, y, x0):], 8, 2) }
	case *image.RGBA:
		if !m.Opaque() {
			break // premultiplied: decoders do not return such images
		}
		f.copy = func(dst []byte, y, x0, x1 int) { pickSamples(dst, m.Pix[at(m.Stride, 4, y, x0):], 4, 1) }
	case *image.RGBA64:
		if !m.Opaque() {
			break
		}
		f.copy = func(dst []byte, y, x0, x1 int) { pickSamples(dst, m.Pix[at(m.Stride, 8, y, x0):], 8, 2) }
	case *image.CMYK:
		f.copy = func(dst []byte, y, x0, x1 int) { inkToRGB(dst, m.Pix[at(m.Stride, 4, y, x0):]) }
	case *image.Paletted:
		colours := paletteRGB(m.Palette)
		f.copy = func(dst []byte, y, x0, x1 int) {
			for i, p := range m.Pix[y*m.Stride+x0 : y*m.Stride+x1] {
				copy(dst[3*i:3*i+3], colours[p][:])
			}
		}
	}
	if f.copy == nil {
		return &anyPicture{img: img, w: f.w, h: f.h}
	}
	return f
}

// flatPicture is a source that copies rows out of one slice.
type flatPicture struct {
	w, h int
	copy func(dst []byte, y, x0, x1 int)
}

func (f flatPicture) sourceSize() (int, int)                  { return f.w, f.h }
func (f flatPicture) readSourceRow(dst []byte, y, x0, x1 int) { f.copy(dst, y, x0, x1) }

// spreadGrey writes each grey byte three times. Grey bytes in src are step bytes apart.
func spreadGrey(dst, src []byte, step int) {
	for i, j := 0, 0; i+2 < len(dst); i, j = i+3, j+step {
		v := src[j]
		dst[i], dst[i+1], dst[i+2] = v, v, v
	}
}

// pickSamples takes the high bytes of three samples of each pixel. step is the size of a pixel in bytes, width the
// size of a sample.
func pickSamples(dst, src []byte, step, width int) {
	for i, j := 0, 0; i+2 < len(dst); i, j = i+3, j+step {
		dst[i], dst[i+1], dst[i+2] = src[j], src[j+width], src[j+2*width]
	}
}

// inkToRGB converts cyan, magenta, yellow and black as PIL does: (255-c)·(255-k)/255, rounded.
func inkToRGB(dst, src []byte) {
	for i, j := 0, 0; i+2 < len(dst); i, j = i+3, j+4 {
		light := 255 - int(src[j+3])
		for c := range 3 {
			t := int(src[j+c])*light + 128
			dst[i+c] = uint8(light - (t>>8+t)>>8)
		}
	}
}

// paletteRGB returns the RGB bytes of a palette; indices beyond the palette are black.
func paletteRGB(p color.Palette) *[256][3]byte {
	var table [256][3]byte
	for i, c := range p {
		if i == len(table) {
			break
		}
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		table[i] = [3]byte{n.R, n.G, n.B}
	}
	return &table
}

// anyPicture is a source that reads an image of unknown type through its At method.
type anyPicture struct {
	img  image.Image
	w, h int
	min  image.Point
}

func (p *anyPicture) sourceSize() (int, int) { return p.w, p.h }

func (p *anyPicture) readSourceRow(dst []byte, y, x0, x1 int) {
	for x := x0; x < x1; x++ {
		i := 3 * (x - x0)
		switch c := p.img.At(p.min.X+x, p.min.Y+y).(type) {
		case color.NRGBA: // without premultiplication, which would lose bits
			dst[i], dst[i+1], dst[i+2] = c.R, c.G, c.B
		default:
			n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
			dst[i], dst[i+1], dst[i+2] = uint8(n.R>>8), uint8(n.G>>8), uint8(n.B>>8)
		}
	}
}
