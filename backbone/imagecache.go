package backbone

import (
	"fmt"
	"image"
	"io/fs"
	"sync"
)

// ImageCache reads the images of a list for training, where every image is needed once per epoch. It keeps images in
// memory up to a total size: as decoded (JPEG chroma at half resolution takes half the bytes of RGB), or resized if
// all views start with the same resize. It evicts no image, because all are needed equally often; images that do not
// fit are decoded each time. It is safe for concurrent use.
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

// keptImage is an image in memory; img is nil if the image is not kept.
type keptImage struct {
	img  image.Image
	form form
}

// NewImageCache returns a cache for an image list and reads no image yet. limit is in bytes; 0 keeps no image.
func NewImageCache(fsys fs.FS, paths []string, limit int64, o DecodeOptions) *ImageCache {
	c := &ImageCache{
		fsys: fsys, paths: paths, limit: limit, options: o,
		kept: make([]keptImage, len(paths)),
	}
	c.readers.New = func() any { return &reader{fsys: fsys, options: o} }
	return c
}

// Image returns the decoded image of a row. The image is shared and must not be changed. Errors name the path and are
// not cached.
func (c *ImageCache) Image(row int) (image.Image, error) { return c.cachedImage(row, nil) }

// ImageFor returns an image that gives v the same views as the row's image, bit for bit: the image itself or the
// result of [Viewer.reducePicture]. A cache may serve several viewers and Image, but an image resized for one viewer
// is decoded again for a viewer that resizes differently.
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

// hasRoomFor reports whether n more bytes fit within the limit. If not, resizing the image would be wasted work.
func (c *ImageCache) hasRoomFor(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size+n <= c.limit
}

// keepImage stores an image if it fits. If two goroutines decoded the same image, the first result is kept.
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

// Kept returns the number and bytes of the images in memory.
func (c *ImageCache) Kept() (pictures int, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pictures, c.size
}

// reuseBuffer returns data as a buffer for the next file, or nil if data is unusually large.
func reuseBuffer(data []byte) []byte {
	const usual = 16 << 20
	if cap(data) > usual {
		return nil
	}
	return data
}

// imageHeader is roughly the memory that an image takes besides its samples.
const imageHeader = 128

// bytesOf returns the memory of an image.
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
	default: // at most four samples of 16 bits per pixel
		n = 8 * img.Bounds().Dx() * img.Bounds().Dy()
	}
	return imageHeader + int64(n)
}
