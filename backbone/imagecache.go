package backbone

import (
	"fmt"
	"image"
	"io/fs"
	"sync"
)

// ImageCache is an image list for training, where every picture is wanted once an epoch: pictures are kept as
// they come out of the decoder (a JPEG's half-resolution colours take half the bytes of RGB), or resized where
// all views begin with the same resize, as long as their sum stays within a limit. Nothing is ever thrown out,
// because every picture is wanted equally often; those that do not fit are decoded again each time. Safe for
// several goroutines.
type ImageCache struct {
	fsys    fs.FS
	paths   []string
	limit   int64
	options DecodeOptions
	readers sync.Pool // of *reader, for their file buffers

	mu       sync.Mutex
	kept     []keptImage // by row
	pictures int
	size     int64
}

// keptImage is a picture in memory, or none.
type keptImage struct {
	img  image.Image
	form form
}

// NewImageCache prepares for an image list; nothing is read. limit is bytes; 0: nothing is kept.
func NewImageCache(fsys fs.FS, paths []string, limit int64, o DecodeOptions) *ImageCache {
	c := &ImageCache{fsys: fsys, paths: paths, limit: limit, options: o, kept: make([]keptImage, len(paths))}
	c.readers.New = func() any { return &reader{fsys: fsys, options: o} }
	return c
}

// Len returns the number of pictures in the list.
func (c *ImageCache) Len() int { return len(c.paths) }

// Image returns the picture of a row as the decoder gives it. It is shared: it must not be changed. Errors name the
// path and are not kept.
func (c *ImageCache) Image(row int) (image.Image, error) { return c.image(row, nil) }

// ImageFor returns a picture of which v makes the same views as of the row's picture, bit for bit: the picture
// itself or [Viewer.Reduced]. A cache serves other viewers and Image as well, but what was kept for one is
// decoded again for one that resizes otherwise.
func (c *ImageCache) ImageFor(row int, v *Viewer) (image.Image, error) { return c.image(row, v) }

func (c *ImageCache) image(row int, v *Viewer) (image.Image, error) {
	if row < 0 || row >= len(c.paths) {
		return nil, fmt.Errorf("backbone: image %d of a list of %d, expected 0 to %d", row, len(c.paths), len(c.paths)-1)
	}
	var wanted form
	if v != nil {
		wanted = v.form()
	}
	c.mu.Lock()
	have := c.kept[row]
	c.mu.Unlock()
	if have.img != nil && (have.form == form{} || have.form == wanted) {
		return have.img, nil
	}
	r := c.readers.Get().(*reader)
	defer c.readers.Put(r)
	got := keptImage{}
	err := r.picture(c.paths[row], func(img image.Image) error {
		got.img = img
		if v != nil && c.fits(v.reducedBytes(img)) {
			if got.img = v.Reduced(img); got.img != img {
				got.form = wanted
			}
		}
		c.keep(row, got)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("backbone: %s: %w", c.paths[row], err)
	}
	return got.img, nil
}

// fits reports whether there is room for n bytes: where there is none, resizing a picture as a whole is waste.
func (c *ImageCache) fits(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size+n <= c.limit
}

// keep stores a picture if there is room; of two that were decoded at once the first stays.
func (c *ImageCache) keep(row int, k keptImage) {
	n := bytesOf(k.img)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[row].img == nil && c.size+n <= c.limit {
		c.kept[row] = k
		c.size += n
		c.pictures++
	}
}

// Kept returns how many pictures are in memory, and their bytes.
func (c *ImageCache) Kept() (pictures int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pictures, c.size
}

// shortened returns a file buffer for the next file, without the memory of an uncommonly large one.
func shortened(data []byte) []byte {
	const usual = 16 << 20
	if cap(data) > usual {
		return nil
	}
	return data
}

// imageHeader is about what a picture takes beside its samples.
const imageHeader = 128

// bytesOf returns the memory of a picture.
func bytesOf(img image.Image) int64 {
	n := 0
	switch m := samplesOf(img).(type) {
	case *image.YCbCr:
		n = cap(m.Y) + cap(m.Cb) + cap(m.Cr)
	case *image.NYCbCrA:
		n = cap(m.Y) + cap(m.Cb) + cap(m.Cr) + cap(m.A)
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
	default: // at most 16 bits of four samples
		n = 8 * img.Bounds().Dx() * img.Bounds().Dy()
	}
	return imageHeader + int64(n)
}
