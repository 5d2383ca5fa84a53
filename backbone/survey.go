package backbone

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"

	"winnow/backbone/jfif"
)

// newSurvey returns a survey for a header. bytes is the memory per pixel while decoding.
func newSurvey(c image.Config, bytes float64) survey {
	pixels := float64(c.Width) * float64(c.Height)
	return survey{c.Width, c.Height, func(int) (int64, int64, error) { return int64(pixels * bytes), 0, nil }}
}

// surveyJPEG estimates the decoder's memory: one byte per sample, and two more for the coefficients of a progressive
// file. The standard library's coefficients take four bytes, and for CMYK and RGB it makes a second image.
func surveyJPEG(data []byte) (survey, error) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	return survey{c.Width, c.Height, func(by int) (first, second int64, err error) {
		h, err := jfif.Inspect(data)
		if first = h.Samples / int64(by*by); h.Progressive {
			first += 2 * h.Samples
		}
		second = 3 * h.Samples
		if h.Progressive {
			second *= 2
		}
		if !h.Usual {
			first = second
		}
		return first, second, err
	}}, err
}

func surveyPNG(data []byte) (survey, error) {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return survey{}, err
	}
	depth := 4.0
	switch c.ColorModel {
	case color.GrayModel:
		depth = 1
	case color.Gray16Model:
		depth = 2
	case color.RGBA64Model, color.NRGBA64Model:
		depth = 8
	}
	if head, _, _ := bytes.Cut(data, []byte("IDAT")); depth < 4 && bytes.Contains(head, []byte("tRNS")) {
		depth *= 4 // one transparent grey level turns the whole image into NRGBA
	}
	const interlaced = 28 // offset of the interlace method in the file
	if len(data) > interlaced && data[interlaced] == 1 {
		depth *= 1.5 // the last pass, half of all rows, is a separate image
	}
	return newSurvey(c, depth), nil
}

// surveyGIF estimates the memory of the frame, the logical screen, and the colours for resizing.
func surveyGIF(data []byte) (survey, error) { return surveyedBy(gif.DecodeConfig, data, 6) }

func surveyBMP(data []byte) (survey, error) { return surveyedBy(bmp.DecodeConfig, data, 4) }

func surveyedBy(config func(io.Reader) (image.Config, error), data []byte, bytesEach float64) (survey, error) {
	c, err := config(bytes.NewReader(data))
	return newSurvey(c, bytesEach), err
}
