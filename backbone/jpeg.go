package backbone

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"

	"winnow/backbone/jfif"
)

// decodeJPEG decodes exactly as libjpeg where it can, reduced by 1, 2, 4 or 8. The standard library decodes the
// rest (CMYK, unusual chroma resolutions) at full size, and reports what is wrong with damaged files.
func decodeJPEG(data []byte, by int) (image.Image, error) {
	if img, err := jfif.DecodeScaled(data, by); err == nil {
		return img, nil
	}
	if h, err := jfif.Inspect(data); err != nil {
		return nil, err
	} else if 6*h.Samples > defaultMaxBytes && h.Progressive {
		return nil, errors.New("the picture is damaged, and too large to find out where")
	}
	return jpeg.Decode(bytes.NewReader(data))
}
