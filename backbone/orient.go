package backbone

import (
	"image"

	"github.com/disintegration/imaging"
)

// orientPicture rotates or mirrors an image by its EXIF orientation. Orientations 5 to 8 exchange rows and columns.
func orientPicture(img image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return img
	}
	turn := map[int]func(image.Image) *image.NRGBA{
		2: imaging.FlipH,
		3: imaging.Rotate180,
		4: imaging.FlipV,
		5: imaging.Transpose,
		6: imaging.Rotate270, // counter-clockwise: the camera was rotated to the left
		7: imaging.Transverse,
		8: imaging.Rotate90,
	}
	return turn[orientation](coloursOf(img))
}

// coloursOf converts an image to the colours that the network would see, so that rotating does not change them. The
// whole result is in memory because package imaging reads it from several goroutines.
func coloursOf(img image.Image) *image.NRGBA {
	s := sourceOf(img)
	w, h := s.sourceSize()
	return coloursIn(s, image.Rect(0, 0, w, h))
}

// coloursIn converts a part of an image to the colours that the network would see.
func coloursIn(s source, part image.Rectangle) *image.NRGBA {
	w, h := part.Dx(), part.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	line := make([]byte, 3*w)
	for y := range h {
		s.readSourceRow(line, part.Min.Y+y, part.Min.X, part.Max.X)
		row := out.Pix[y*out.Stride:][:4*w]
		for x := range w {
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = line[3*x], line[3*x+1], line[3*x+2], 255
		}
	}
	return out
}
