package backbone

import (
	"bytes"
	"image"
	"image/jpeg"

	"winnow/backbone/jfif"
)

// decodeJPEG decodes as libjpeg does where it can, to the bit; the standard library takes the rest (CMYK, unusual
// resolutions of chroma) and says what is wrong with damaged files.
func decodeJPEG(data []byte) (image.Image, error) {
	if img, err := jfif.Decode(data); err == nil {
		return img, nil
	}
	return jpeg.Decode(bytes.NewReader(data))
}
