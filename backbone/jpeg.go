package backbone

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"

	"winnow/backbone/jfif"
)

// decodeJPEG decodes with package jfif if it can, bit for bit like libjpeg, reduced by 1, 2, 4 or 8. For other files
// (CMYK, unusual chroma resolutions) it uses the standard library's decoder, at full size. That decoder also reports
// what is wrong with damaged files.
func decodeJPEG(data []byte, by int) (image.Image, error) {
	if img, err := jfif.DecodeScaled(data, by); err == nil {
		return img, nil
	}
	if h, err := jfif.Inspect(data); err != nil {
		return nil, err
	} else if 6*h.Samples > defaultMaxBytes && h.Progressive {
		return nil, errors.New("the image is damaged, and too large for the decoder that would report where")
	}
	return jpeg.Decode(bytes.NewReader(data))
}
