package backbone

import (
	"crypto/sha256"
	"fmt"
	"image"
	"io/fs"
)

// ReadImage decodes one image file and shows it to use, within the memory that all readers of this process share; use
// returns before it is given back.
func ReadImage(fsys fs.FS, path string, o DecodeOptions, use func(image.Image) error) error {
	r := reader{fsys: fsys, options: o}
	if err := r.picture(path, use); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Inspect reads an image file, and returns the sha256 of its bytes, or why it is no picture that can be decoded; the error
// leaves the path to the caller.
func Inspect(fsys fs.FS, path string) (sum [sha256.Size]byte, err error) {
	r := reader{fsys: fsys}
	err = r.picture(path, func(image.Image) error {
		sum = sha256.Sum256(r.data)
		return nil
	})
	return sum, err
}
