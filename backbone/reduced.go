package backbone

import "image"

// reducedPicture is a picture that was reduced while it was decoded. Its last column and row may show something beyond
// the picture's edge, where the whole one's sides are no multiples of the reduction: a resize of it needs the size
// that it had, or all of it is shifted a little.
type reducedPicture struct {
	image.Image
	extent
}

// extent is the size of a picture as it lies in the file, and by how much it was reduced when it was decoded.
type extent struct{ w, h, by int }

// extentOf returns that of any picture.
func extentOf(img image.Image) extent {
	if r, ok := img.(*reducedPicture); ok {
		return r.extent
	}
	return extent{img.Bounds().Dx(), img.Bounds().Dy(), 1}
}

// asReduced keeps the size of the file's picture beside one that came out smaller.
func asReduced(img image.Image, w, h, by int) image.Image {
	if img.Bounds().Dx() == w && img.Bounds().Dy() == h {
		return img
	}
	return &reducedPicture{img, extent{w, h, by}}
}

// samplesOf returns the picture without its history.
func samplesOf(img image.Image) image.Image {
	if r, ok := img.(*reducedPicture); ok {
		return r.Image
	}
	return img
}

// reduced returns a length of n pixels in samples of the reduced picture, and samples how many of those it touches.
func (e extent) reduced(n int) float64 { return float64(n) / float64(e.by) }
func (e extent) samples(n int) int     { return (n + e.by - 1) / e.by }
