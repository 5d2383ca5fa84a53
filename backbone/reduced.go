package backbone

import "image"

// reducedPicture is a picture that was reduced while decoding. Unless the full sides are multiples of the
// reduction, its last column and row reach beyond the picture's edge. A resize must then use the full size, or
// the result is shifted a little.
type reducedPicture struct {
	image.Image
	extent
}

// extent is the size of a picture in its file, and the factor by which it was reduced when decoded.
type extent struct{ w, h, by int }

func extentOf(img image.Image) extent {
	if r, ok := img.(*reducedPicture); ok {
		return r.extent
	}
	return extent{img.Bounds().Dx(), img.Bounds().Dy(), 1}
}

// asReduced attaches the file's size to a picture that came out smaller.
func asReduced(img image.Image, w, h, by int) image.Image {
	if img.Bounds().Dx() == w && img.Bounds().Dy() == h {
		return img
	}
	return &reducedPicture{img, extent{w, h, by}}
}

// samplesOf returns the picture without its extent.
func samplesOf(img image.Image) image.Image {
	if r, ok := img.(*reducedPicture); ok {
		return r.Image
	}
	return img
}

// reduceLength converts a length of n pixels to samples of the reduced picture; samples rounds that up.
func (e extent) reduceLength(n int) float64 { return float64(n) / float64(e.by) }
func (e extent) roundSamples(n int) int     { return (n + e.by - 1) / e.by }
