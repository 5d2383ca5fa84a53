package backbone

import (
	"bytes"
	"errors"
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
	if h, err := jfif.Inspect(data); err != nil {
		return nil, err
	} else if 6*h.Samples > DefaultMaxBytes && h.Progressive {
		return nil, errors.New("the picture is damaged, and too large for the decoder that says where")
	}
	return jpeg.Decode(bytes.NewReader(data))
}
