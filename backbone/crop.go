package backbone

import (
	"fmt"
	"image"

	"winnow/datasets"
)

// cropBytes is the memory that each pixel of a crop takes in addition to the whole image.
const cropBytes = 4

// cropPicture returns a rectangle of an image, clipped to the image, in the colours that the network would see.
func cropPicture(img image.Image, c datasets.Crop) (*image.NRGBA, error) {
	s := sourceOf(img)
	w, h := s.sourceSize()
	x1, y1 := min(c.X+c.W, w), min(c.Y+c.H, h)
	if c.X >= x1 || c.Y >= y1 {
		return nil, fmt.Errorf("the crop of %d×%d pixels from %d,%d is outside the image of %d×%d",
			c.W, c.H, c.X, c.Y, w, h)
	}
	return coloursIn(s, image.Rect(c.X, c.Y, x1, y1)), nil
}
