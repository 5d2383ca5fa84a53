// Package pictures makes small pictures on demand and keeps them: the latest in memory, more on disk. A picture
// is made once for all who ask for it, at most two are made at a time, and everything has a limit: the size of
// what is decoded, the bytes in memory, the bytes on disk. It reads only through the fs.FS that it is given.
package pictures

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io/fs"

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

// Options limit what is kept.
type Options struct {
	Memory int64  // bytes of small pictures in memory; 0: 64 MiB
	Folder string // folder of small pictures on disk; "": none
	Disk   int64  // bytes in Folder; 0: 1 GiB
}

// Pictures makes and keeps the small pictures of a tree of images.
type Pictures struct {
	fsys   fs.FS
	memory *memory
	disk   *disk
	making flight
	slots  chan struct{}
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
func New(fsys fs.FS, o Options) *Pictures {
	if o.Memory <= 0 {
		o.Memory = 64 << 20
	}
	if o.Disk <= 0 {
		o.Disk = 1 << 30
	}
	return &Pictures{
		fsys: fsys, memory: newMemory(o.Memory), disk: newDisk(o.Folder, o.Disk),
		slots: make(chan struct{}, atOnce),
	}
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
	k := keyOf(path, side, info)
	if data, ok := p.memory.getCached(k); ok {
		return data, nil
	}
	return p.making.shareResult(ctx, k, func(ctx context.Context) ([]byte, error) {
		if data, ok := p.memory.getCached(k); ok { // another call has just made it
			return data, nil
		}
		if data, ok := p.disk.readPicture(k); ok {
			p.memory.putCached(k, data)
			return data, nil
		}
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		defer func() { <-p.slots }()
		data, err := p.producePicture(path, side)
		if err != nil {
			return nil, asUnreadable(err)
		}
		p.memory.putCached(k, data)
		p.disk.writePicture(k, data)
		return data, nil
	})
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
