package tuning

import (
	"image"
	"io/fs"

	"winnow/backbone"
	"winnow/internal/hint"
	"winnow/run/config"
)

// looked is the number of images that are checked for colours.
const looked = 32

// Grey reports whether images have no colours, by a sample that is spread over the whole list.
func Grey(root fs.FS, all []string) (bool, error) {
	var paths []string
	for i := 0; i < len(all); i += max(1, len(all)/looked) {
		paths = append(paths, all[i])
	}
	cache := backbone.NewImageCache(root, paths, 0, backbone.DecodeOptions{})
	read := 0
	var last error
	for i := range paths {
		picture, err := cache.Image(i)
		if err != nil {
			last = err
			continue
		}
		if read++; isColoured(picture) {
			return false, nil
		}
	}
	if read == 0 {
		return false, hint.With(last, "fine-tuning reads the images: name their folder with %s",
			config.Key("data.root"))
	}
	return true, nil
}

// isColoured reports whether a pixel differs from grey by more than the compression of a grey image explains.
func isColoured(picture image.Image) bool {
	const near = 0x1400
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += max(1, b.Dy()/32) {
		for x := b.Min.X; x < b.Max.X; x += max(1, b.Dx()/32) {
			r, g, b, _ := picture.At(x, y).RGBA()
			if max(r, g, b)-min(r, g, b) > near {
				return true
			}
		}
	}
	return false
}
