package review

import (
	"bufio"
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
	"io/fs"
	"sync"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/internal/regular"
)

// leastSide and mostSide are the smallest and the largest side length of a thumbnail, in pixels.
const (
	leastSide = 16
	mostSide  = 512
)

// atOnce is the maximum number of images decoded at the same time. Each may use half a gigabyte.
const atOnce = 2

// mostMemory is the maximum size of all cached thumbnails in bytes.
const mostMemory = 64 << 20

// pictureCache makes thumbnails of the images in fsys and caches the most recently used thumbnails.
type pictureCache struct {
	fsys  fs.FS
	slots chan struct{}

	mutex sync.Mutex
	bytes int
	order *list.List // cached thumbnails, the most recently used first
	at    map[smallKey]*list.Element
}

// smallKey identifies a thumbnail. The key changes when the image file changes.
type smallKey struct {
	path     string
	side     int
	size     int64
	modified int64
}

type keptSmall struct {
	key  smallKey
	data []byte
}

// unreadable is the error for an image that cannot be decoded.
type unreadable struct{ Reason error }

func (e *unreadable) Error() string { return e.Reason.Error() }
func (e *unreadable) Unwrap() error { return e.Reason }

// asUnreadable wraps the error as [*unreadable], unless too many files are open.
func asUnreadable(reason error) error {
	if regular.Exhausted(reason) {
		return reason
	}
	return &unreadable{reason}
}

// newPictureCache returns an empty cache of thumbnails of the images in fsys.
func newPictureCache(fsys fs.FS) *pictureCache {
	return &pictureCache{fsys: fsys, slots: make(chan struct{}, atOnce), order: list.New(),
		at: map[smallKey]*list.Element{}}
}

// makeSmall returns a thumbnail as a JPEG file of at most side×side pixels. It keeps the proportions, applies the EXIF
// orientation and puts transparent images on white. side is clamped to [leastSide, mostSide]. The error is
// [*unreadable] or the error of ctx.
func (p *pictureCache) makeSmall(ctx context.Context, path string, side int) ([]byte, error) {
	side = min(max(side, leastSide), mostSide)
	info, err := fs.Stat(p.fsys, path)
	if err != nil {
		return nil, asUnreadable(err)
	}
	k := smallKey{path, side, info.Size(), info.ModTime().UnixNano()}
	if data, ok := p.getCached(k); ok {
		return data, nil
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if data, ok := p.getCached(k); ok { // another call has just made it
		return data, nil
	}
	data, err := p.producePicture(path, side)
	if err != nil {
		return nil, asUnreadable(err)
	}
	p.putCached(k, data)
	return data, nil
}

func (p *pictureCache) getCached(k smallKey) ([]byte, bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	e, ok := p.at[k]
	if !ok {
		return nil, false
	}
	p.order.MoveToFront(e)
	return e.Value.(keptSmall).data, true
}

func (p *pictureCache) putCached(k smallKey, data []byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.at[k] != nil {
		return
	}
	p.at[k] = p.order.PushFront(keptSmall{k, data})
	for p.bytes += len(data); p.bytes > mostMemory; {
		old := p.order.Remove(p.order.Back()).(keptSmall)
		delete(p.at, old.key)
		p.bytes -= len(old.data)
	}
}

// producePicture decodes an image and encodes a thumbnail.
func (p *pictureCache) producePicture(path string, side int) ([]byte, error) {
	t := backbone.ReadThumbnail(p.fsys, path, side)
	if t.Err != nil {
		return nil, t.Err
	}
	flat := image.NewRGBA(t.Image.Bounds())
	draw.Draw(flat, flat.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, t.Image, t.Image.Bounds().Min, draw.Over)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: 85}); err != nil {
		return nil, fmt.Errorf("encoding: %w", err)
	}
	return b.Bytes(), nil
}

// pictureFile is an open image file.
type pictureFile struct {
	Type string // media type: image/jpeg, …
	Size int64
	io.Reader
	io.Closer
}

// openPicture opens an image file. The error is [*unreadable] if the first bytes are not those of a supported format,
// whatever the file's extension. A crop is returned as a PNG file.
func (p *pictureCache) openPicture(path string) (*pictureFile, error) {
	if _, _, cropped := datasets.CutCrop(path); cropped {
		return p.openCrop(path)
	}
	f, info, err := regular.From(p.fsys, path)
	if err != nil {
		return nil, asUnreadable(err)
	}
	file, err := asImage(f, info.Size())
	if err != nil {
		return nil, asUnreadable(errors.Join(err, f.Close()))
	}
	return file, nil
}

func (p *pictureCache) openCrop(path string) (*pictureFile, error) {
	var b bytes.Buffer
	err := backbone.ReadImage(p.fsys, path, backbone.DecodeOptions{}, func(img image.Image) error {
		return png.Encode(&b, img)
	})
	if err != nil {
		return nil, asUnreadable(err)
	}
	return &pictureFile{Type: "image/png", Size: int64(b.Len()), Reader: &b, Closer: io.NopCloser(nil)}, nil
}

func asImage(f fs.File, size int64) (*pictureFile, error) {
	in := bufio.NewReader(f)
	head, err := in.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	kind := backbone.FileType(head)
	if kind == "" {
		return nil, fmt.Errorf("not an image: starts with %.16q", head)
	}
	return &pictureFile{Type: kind, Size: size, Reader: in, Closer: f}, nil
}
