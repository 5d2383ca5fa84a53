package backbone

import (
	"bytes"
	"errors"
	"image"

	"golang.org/x/image/webp"
)

// surveyWebP estimates the decoder's memory. For a lossy image it counts luma, chroma and colours, for a lossless
// image the colours before and after the last transform.
func surveyWebP(data []byte) (survey, error) {
	const animated = 1 << 1
	if len(data) > 20 && string(data[12:16]) == "VP8X" && data[20]&animated != 0 {
		return survey{}, errors.New("an animated image: save its first frame as PNG or JPEG")
	}
	c, err := webp.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return survey{}, err
	}
	depth := map[string]float64{"VP8 ": 6, "VP8L": 8}[string(data[12:16])]
	if depth == 0 { // transparency of a lossy image is a second, lossless image
		depth = 9
	}
	return newSurvey(c, depth), nil
}

// decodeWebP decodes a WebP file. Lossy WebP stores video-range luma and chroma (Y from 16 to 235) in the Go type that
// JPEG uses for full range; without conversion the image would look pale. decodeWebP converts it to RGB with libwebp's
// arithmetic.
func decodeWebP(data []byte) (image.Image, error) {
	img, err := webp.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		return videoToRGB(m), nil
	case *image.NYCbCrA:
		return videoToRGB(&m.YCbCr), nil // alpha is ignored for all formats
	}
	return img, nil
}

// videoToRGB interpolates the 4:2:0 chroma with weights 9, 3, 3, 1 of the four nearest samples, in the two rounded
// steps of libwebp's "fancy" upsampler. It converts to RGB with libwebp's 14-bit constants.
func videoToRGB(m *image.YCbCr) *image.NRGBA {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		near := y / 2
		far := max(near-1, 0)
		if y&1 == 1 {
			far = min(near+1, (h+1)/2-1)
		}
		cw := (w + 1) / 2
		nb, nr := m.Cb[near*m.CStride:][:cw], m.Cr[near*m.CStride:][:cw]
		fb, fr := m.Cb[far*m.CStride:][:cw], m.Cr[far*m.CStride:][:cw]
		luma, row := m.Y[y*m.YStride:][:w], out.Pix[y*out.Stride:][:4*w]
		for x, v := range luma {
			c, side := x/2, x/2+1
			if x&1 == 0 {
				side = c - 1
			}
			if side < 0 || side >= cw { // beyond the edge, only the two rows are mixed
				videoPixel(row[4*x:], v, (3*int32(nb[c])+int32(fb[c])+2)>>2, (3*int32(nr[c])+int32(fr[c])+2)>>2)
				continue
			}
			u := weighDiamond(nb[c], nb[side], fb[c], fb[side])
			videoPixel(row[4*x:], v, u, weighDiamond(nr[c], nr[side], fr[c], fr[side]))
		}
	}
	return out
}

// weighDiamond returns (9·near + 3·(beside + above) + diagonal)/16 in two steps. Each step rounds half up.
func weighDiamond(near, beside, above, diagonal uint8) int32 {
	a, b, c, d := int32(near), int32(beside), int32(above), int32(diagonal)
	return ((a+b+c+d+8+2*(b+c))>>3 + a) >> 1
}

// videoPixel converts one pixel: 1.164·(Y-16) + 1.596·(V-128) and so on, in units of 2⁻⁶ after a shift of 8.
func videoPixel(dst []byte, luma uint8, u, v int32) {
	y := int32(luma) * 19077 >> 8
	r := y + v*26149>>8 - 14234
	g := y - u*6419>>8 - v*13320>>8 + 8708
	b := y + u*33050>>8 - 17685
	dst[0], dst[1], dst[2], dst[3] = clip8(r>>6), clip8(g>>6), clip8(b>>6), 255
}
