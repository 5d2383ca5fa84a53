package backbone

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"golang.org/x/image/webp"

	"winnow/internal/exif"
)

// surveyWebP counts, for a lossy picture, its luma, chroma and colours; for a lossless one, the colours before
// and after its last transform.
func surveyWebP(data []byte) (survey, error) {
	still, at, screen, err := webpStill(data)
	if err != nil {
		return survey{}, err
	}
	c, err := webp.DecodeConfig(bytes.NewReader(still))
	if err != nil {
		return survey{}, err
	}
	depth := map[string]float64{"VP8 ": 6, "VP8L": 8}[string(still[12:16])]
	if depth == 0 { // with transparency, which is a lossless picture beside the lossy one
		depth = 9
	}
	if screen == (image.Point{}) {
		return newSurvey(c, depth), nil
	}
	if !image.Rect(0, 0, c.Width, c.Height).Add(at).In(image.Rectangle{Max: screen}) {
		return survey{}, errors.New("the first frame leaves the screen")
	}
	return newSurvey(image.Config{Width: screen.X, Height: screen.Y}, depth+4), nil
}

// decodeWebP decodes a WebP file. Lossy WebP stores video-range luma and chroma (Y from 16 to 235) in the Go
// type that JPEG uses for full range; shown unchanged it would be greyish. So it is converted to colours here,
// with libwebp's arithmetic.
//
// An animated picture gives its first frame on its screen; the rest is transparent black, as in PIL.
func decodeWebP(data []byte) (image.Image, error) {
	still, at, screen, err := webpStill(data)
	if err != nil {
		return nil, err
	}
	img, err := webp.Decode(bytes.NewReader(still))
	if err != nil {
		return nil, err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		img = videoToRGB(m)
	case *image.NYCbCrA:
		img = videoToRGB(&m.YCbCr) // alpha is dropped everywhere
	}
	frame, ok := img.(*image.NRGBA)
	if !ok || screen == (image.Point{}) || frame.Rect.Max == screen {
		return img, nil
	}
	canvas := image.NewNRGBA(image.Rectangle{Max: screen})
	for y := range frame.Rect.Dy() {
		copy(canvas.Pix[canvas.PixOffset(at.X, at.Y+y):], frame.Pix[y*frame.Stride:][:4*frame.Rect.Dx()])
	}
	return canvas, nil
}

// webpStill returns the first frame of an animated file as a file of its own, with its place and the size of
// the screen. It returns other files unchanged. Source: WebP Container Specification (RFC 9649), section 2.7.
func webpStill(data []byte) (still []byte, at, screen image.Point, err error) {
	const animated, alpha, plain = 1 << 1, 1 << 4, 30
	if len(data) < plain || string(data[12:16]) != "VP8X" || data[20]&animated == 0 {
		return data, at, screen, nil
	}
	head := data[20:30]
	frame := exif.WebPChunk(data, "ANMF")
	if len(frame) < 16 {
		return nil, at, screen, io.ErrUnexpectedEOF
	}
	three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	screen = image.Pt(three(head[4:])+1, three(head[7:])+1)
	at = image.Pt(2*three(frame), 2*three(frame[3:]))
	extended := make([]byte, 10) // flags, and the frame's size
	if content := frame[16:]; len(content) >= 4 && string(content[:4]) == "ALPH" {
		extended[0] = alpha
	}
	copy(extended[4:], frame[6:12])
	still = append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00"), extended...)
	still = append(still, frame[16:]...)
	binary.LittleEndian.PutUint32(still[4:], uint32(len(still)-8))
	return still, at, screen, nil
}

// videoToRGB interpolates the 4:2:0 chroma with weights 9, 3, 3, 1 of the four nearest samples, in the two
// rounded steps of libwebp's "fancy" upsampler, and converts with its 14-bit constants.
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
			if side < 0 || side >= cw { // beyond the edge: only the two rows are mixed
				videoPixel(row[4*x:], v, (3*int32(nb[c])+int32(fb[c])+2)>>2, (3*int32(nr[c])+int32(fr[c])+2)>>2)
				continue
			}
			u := weighDiamond(nb[c], nb[side], fb[c], fb[side])
			videoPixel(row[4*x:], v, u, weighDiamond(nr[c], nr[side], fr[c], fr[side]))
		}
	}
	return out
}

// weighDiamond returns (9·near + 3·(beside + above) + diagonal)/16 in two steps, each rounded down after adding half.
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
