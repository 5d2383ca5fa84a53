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

// leastSide and mostSide are the smallest and largest side of a small picture, in pixels.
const (
	leastSide = 16
	mostSide  = 512
)

// atOnce is how many pictures are decoded at the same time: each may briefly take half a gigabyte.
const atOnce = 2

// mostMemory is the most bytes of small pictures in memory.
const mostMemory = 64 << 20

// pictureCache makes the small pictures of a tree of images, and keeps the most recently used ones.
type pictureCache struct {
	fsys  fs.FS
	slots chan struct{}

	mutex sync.Mutex
	bytes int
	order *list.List // kept pictures, the most recently used first
	at    map[smallKey]*list.Element
}

// smallKey identifies a small picture. If the file at a path changes, so does the key.
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

// unreadable is the error for a picture that cannot be shown.
type unreadable struct{ Reason error }

func (e *unreadable) Error() string { return e.Reason.Error() }
func (e *unreadable) Unwrap() error { return e.Reason }

// asUnreadable returns the error for a picture that cannot be shown, unless it is no fault of the picture's.
func asUnreadable(reason error) error {
	if regular.Exhausted(reason) {
		return reason
	}
	return &unreadable{reason}
}

// newPictureCache returns a cache of the pictures of fsys.
func newPictureCache(fsys fs.FS) *pictureCache {
	return &pictureCache{fsys: fsys, slots: make(chan struct{}, atOnce), order: list.New(),
		at: map[smallKey]*list.Element{}}
}

// makeSmall returns a picture as a JPEG file of at most side×side pixels: with its proportions, turned by its EXIF
// orientation, on white if it is transparent. side is limited to leastSide … mostSide. The error is
// [*unreadable], or that of ctx.
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

// producePicture decodes a picture and encodes it small.
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

// openPicture opens an image file. A file that does not begin like a supported image is [*unreadable], regardless of
// its name. A crop is opened as a PNG file of its own.
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
