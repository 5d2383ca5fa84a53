package backbone

import (
	"bytes"
	"image"
	"image/jpeg"

	"winnow/backbone/jfif"
)

// decodeJPEG decodes as libjpeg does where it can, to the bit, reduced by 1, 2, 4 or 8; the standard library takes the
// rest (CMYK, unusual resolutions of chroma), whole, and says what is wrong with damaged files.
func decodeJPEG(data []byte, by int) (image.Image, error) {
	if img, err := jfif.DecodeScaled(data, by); err == nil {
		return img, nil
	}
	return jpeg.Decode(bytes.NewReader(data))
}
