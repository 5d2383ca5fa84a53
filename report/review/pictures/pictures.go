// Package pictures makes small pictures on demand and keeps the latest in memory. At most two are made at a time, and
// everything has a limit: the size of what is decoded, the bytes in memory. It reads only through the fs.FS that it is
// given.
package pictures

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io/fs"
	"sync"

	"winnow/backbone"
	"winnow/internal/regular"
)

// leastSide and MostSide are the smallest and largest side of a small picture, in pixels.
const (
	leastSide = 16
	MostSide  = 512
)

// atOnce is how many pictures are decoded at the same time: each may briefly take half a gigabyte.
const atOnce = 2

// mostMemory is the most bytes of small pictures in memory.
const mostMemory = 64 << 20

// Pictures makes the small pictures of a tree of images, and keeps the most recently used ones.
type Pictures struct {
	fsys  fs.FS
	slots chan struct{}

	mutex sync.Mutex
	bytes int
	order *list.List // kept pictures, the most recently used first
	at    map[key]*list.Element
}

// key identifies a small picture. If the file at a path changes, so does the key.
type key struct {
	path     string
	side     int
	size     int64
	modified int64
}

type kept struct {
	key  key
	data []byte
}

// Unreadable is the error for a picture that cannot be shown.
type Unreadable struct{ Reason error }

func (e *Unreadable) Error() string { return e.Reason.Error() }
func (e *Unreadable) Unwrap() error { return e.Reason }

// asUnreadable returns the error for a picture that cannot be shown, unless it is no fault of the picture's.
func asUnreadable(reason error) error {
	if regular.Exhausted(reason) {
		return reason
	}
	return &Unreadable{reason}
}

// New returns a cache of the pictures of fsys.
func New(fsys fs.FS) *Pictures {
	return &Pictures{fsys: fsys, slots: make(chan struct{}, atOnce), order: list.New(), at: map[key]*list.Element{}}
}

// Small returns a picture as a JPEG file of at most side×side pixels: with its proportions, turned by its EXIF
// orientation, on white if it is transparent. side is limited to leastSide … MostSide. The error is
// [*Unreadable], or that of ctx.
func (p *Pictures) Small(ctx context.Context, path string, side int) ([]byte, error) {
	side = min(max(side, leastSide), MostSide)
	info, err := fs.Stat(p.fsys, path)
	if err != nil {
		return nil, asUnreadable(err)
	}
	k := key{path, side, info.Size(), info.ModTime().UnixNano()}
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

func (p *Pictures) getCached(k key) ([]byte, bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	e, ok := p.at[k]
	if !ok {
		return nil, false
	}
	p.order.MoveToFront(e)
	return e.Value.(kept).data, true
}

func (p *Pictures) putCached(k key, data []byte) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.at[k] != nil {
		return
	}
	p.at[k] = p.order.PushFront(kept{k, data})
	for p.bytes += len(data); p.bytes > mostMemory; {
		old := p.order.Remove(p.order.Back()).(kept)
		delete(p.at, old.key)
		p.bytes -= len(old.data)
	}
}

// producePicture decodes a picture and encodes it small.
func (p *Pictures) producePicture(path string, side int) ([]byte, error) {
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
