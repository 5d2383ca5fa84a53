package backbone

import (
	"crypto/sha256"
	"fmt"
	"image"
	"io"
	"io/fs"

	"winnow/datasets"
)

// ReadImage decodes one image file and passes the image to use. It waits for memory from a budget that all readers of
// the process share; the memory is released when use returns.
func ReadImage(fsys fs.FS, path string, o DecodeOptions, use func(image.Image) error) error {
	r := reader{fsys: fsys, options: o}
	if err := r.usePicture(path, use); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Size returns the width and height of an image or a crop. It reads only the header of the file.
func Size(fsys fs.FS, path string) (w, h int, err error) {
	defer catchPanic("reading the image", &err)
	r := reader{fsys: fsys}
	err = r.planFile(path, func(p decoding, crop datasets.Crop, isCrop bool) error {
		if w, h = p.w, p.h; isCrop {
			w, h = crop.W, crop.H
		}
		return nil
	})
	return w, h, err
}

// Inspect reads an image file and returns the sha256 of its bytes; for a crop, of the bytes followed by the crop's
// coordinates. It returns an error if the image cannot be decoded. The error does not name the path.
func Inspect(fsys fs.FS, path string) (sum [sha256.Size]byte, err error) {
	r := reader{fsys: fsys}
	err = r.usePicture(path, func(image.Image) error {
		h := sha256.New()
		_, _ = h.Write(r.data) // a hash never fails
		if _, crop, isCrop := datasets.CutCrop(path); isCrop {
			_, _ = io.WriteString(h, crop.String())
		}
		h.Sum(sum[:0])
		return nil
	})
	return sum, err
}
