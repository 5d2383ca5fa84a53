package backbone

import (
	"fmt"
	"image"
	"io/fs"
	"sync"
)

// ImageCache is an image list for training, where every picture is needed once an epoch. It keeps pictures in
// memory as long as their sum stays within a limit: as decoded (a JPEG's half-resolution colours take half the
// bytes of RGB), or resized if all views begin with the same resize. Nothing is evicted, because every picture
// is needed equally often; pictures that do not fit are decoded each time. Safe for concurrent use.
type ImageCache struct {
	fsys    fs.FS
	paths   []string
	limit   int64
	options DecodeOptions
	readers sync.Pool // *reader values, for their file buffers

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

// NewImageCache returns a cache for an image list; it reads nothing. limit is in bytes; 0: nothing is kept.
func NewImageCache(fsys fs.FS, paths []string, limit int64, o DecodeOptions) *ImageCache {
	c := &ImageCache{
		fsys: fsys, paths: paths, limit: limit, options: o,
		kept: make([]keptImage, len(paths)),
	}
	c.readers.New = func() any { return &reader{fsys: fsys, options: o} }
	return c
}

// Image returns the picture of a row as decoded. The picture is shared and must not be changed. Errors name the
// path and are not kept.
func (c *ImageCache) Image(row int) (image.Image, error) { return c.cachedImage(row, nil) }

// ImageFor returns a picture that gives v the same views as the row's picture, bit for bit: the picture itself
// or [Viewer.reducePicture]. A cache may serve several viewers and Image, but a picture resized for one viewer is
// decoded again for a viewer that resizes differently.
func (c *ImageCache) ImageFor(row int, v *Viewer) (image.Image, error) { return c.cachedImage(row, v) }

func (c *ImageCache) cachedImage(row int, v *Viewer) (image.Image, error) {
	if row < 0 || row >= len(c.paths) {
		return nil, fmt.Errorf("backbone: image %d of a list of %d, expected 0 to %d",
			row, len(c.paths), len(c.paths)-1)
	}
	var wanted form
	if v != nil {
		wanted = v.sharedForm()
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
	err := r.usePicture(c.paths[row], func(img image.Image) error {
		got.img = img
		if v != nil && c.hasRoomFor(v.reducedBytes(img)) {
			if got.img = v.reducePicture(img); got.img != img {
				got.form = wanted
			}
		}
		c.keepImage(row, got)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("backbone: %s: %w", c.paths[row], err)
	}
	return got.img, nil
}

// hasRoomFor reports whether there is room for n bytes. If there is none, resizing a whole picture is wasted work.
func (c *ImageCache) hasRoomFor(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size+n <= c.limit
}

// keepImage stores a picture if there is room. If two goroutines decoded the same one, the first stays.
func (c *ImageCache) keepImage(row int, k keptImage) {
	n := bytesOf(k.img)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[row].img == nil && c.size+n <= c.limit {
		c.kept[row] = k
		c.size += n
		c.pictures++
	}
}

// Kept returns the number and bytes of the pictures in memory.
func (c *ImageCache) Kept() (pictures int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pictures, c.size
}

// reuseBuffer returns data as a buffer for the next file, or nil if it is unusually large.
func reuseBuffer(data []byte) []byte {
	const usual = 16 << 20
	if cap(data) > usual {
		return nil
	}
	return data
}

// imageHeader is roughly the memory of a picture in addition to its samples.
const imageHeader = 128

// bytesOf returns the memory of a picture.
func bytesOf(img image.Image) int64 {
	n := 0
	switch m := img.(type) {
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
