package backbone

import (
	"errors"
	"fmt"
	"image"
	"io/fs"
	"sync"
)

// ImageCache is an image list for training, where every picture is wanted once an epoch: decoded pictures are
// kept as they come out of the decoder (a JPEG's half-resolution colours take half the bytes of RGB) as long as
// their sum stays within a limit. Nothing is ever thrown out, because every picture is wanted equally often;
// those that do not fit are decoded anew each time. Safe for several goroutines.
type ImageCache struct {
	fsys    fs.FS
	paths   []string
	limit   int64
	options DecodeOptions
	readers sync.Pool // of *reader, for their file buffers

	mu   sync.Mutex
	kept []image.Image // by row, nil where none is
	size int64
}

// NewImageCache prepares for an image list; nothing is read. limit is bytes; 0: nothing is kept.
func NewImageCache(fsys fs.FS, paths []string, limit int64, o DecodeOptions) *ImageCache {
	c := &ImageCache{fsys: fsys, paths: paths, limit: limit, options: o, kept: make([]image.Image, len(paths))}
	c.readers.New = func() any { return &reader{fsys: fsys, options: o} }
	return c
}

// Image is the picture of a row. It is shared: nobody may change it. Errors name the path and are not kept.
func (c *ImageCache) Image(row int) (image.Image, error) {
	if row < 0 || row >= len(c.paths) {
		return nil, fmt.Errorf("backbone: image %d, expected 0 to %d", row, len(c.paths)-1)
	}
	c.mu.Lock()
	img := c.kept[row]
	c.mu.Unlock()
	if img != nil {
		return img, nil
	}
	r := c.readers.Get().(*reader)
	img, err := r.decode(c.paths[row])
	c.readers.Put(r)
	if err != nil {
		return nil, fmt.Errorf("backbone: %s: %w", c.paths[row], err)
	}
	return c.keep(row, img), nil
}

// keep stores a picture if there is room; of two that were decoded at once the first stays.
func (c *ImageCache) keep(row int, img image.Image) image.Image {
	n := bytesOf(img)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[row] != nil {
		return c.kept[row]
	}
	if c.size+n <= c.limit {
		c.kept[row] = img
		c.size += n
	}
	return img
}

// Kept is how many pictures are in memory, and their bytes.
func (c *ImageCache) Kept() (pictures int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, img := range c.kept {
		if img != nil {
			pictures++
		}
	}
	return pictures, c.size
}

// decode reads one picture; whatever goes wrong, a panic included, is an error of this picture.
func (r *reader) decode(path string) (img image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading the picture panicked: %v", p)
		}
	}()
	if err := r.load(path); err != nil {
		var inPath *fs.PathError
		if errors.As(err, &inPath) {
			err = inPath.Err
		}
		return nil, err
	}
	return Decode(r.data, r.options)
}

// bytesOf is the memory of a picture.
func bytesOf(img image.Image) int64 {
	const header = 128
	n := 0
	switch m := img.(type) {
	case *image.YCbCr:
		n = cap(m.Y) + cap(m.Cb) + cap(m.Cr)
	case *image.Gray:
		n = cap(m.Pix)
	case *image.NRGBA:
		n = cap(m.Pix)
	case *image.RGBA:
		n = cap(m.Pix)
	case *image.CMYK:
		n = cap(m.Pix)
	case *image.Gray16:
		n = cap(m.Pix)
	case *image.Paletted:
		n = cap(m.Pix) + 32*cap(m.Palette)
	default:
		n = 8 * img.Bounds().Dx() * img.Bounds().Dy()
	}
	return header + int64(n)
}
