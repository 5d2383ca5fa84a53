package report

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io/fs"
	"sync"

	"winnow/backbone"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/config"
	"winnow/run/folder"
)

// Host holds the callbacks and the version of the calling program. The functions may be nil.
type Host struct {
	Note   func(format string, args ...any)                         // receives a note for the user
	Watch  func(what string) (at func(done, total int), end func()) // shows the progress of some work
	Winnow string                                                   // winnow's version, for the page
}

// withDefaults returns the host with each nil function replaced by a function that does nothing.
func (h Host) withDefaults() Host {
	if h.Note == nil {
		h.Note = func(string, ...any) {}
	}
	if h.Watch == nil {
		h.Watch = func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }
	}
	return h
}

// Pictures gives access to the images that a command shows.
type Pictures struct {
	Root  fs.FS
	Where string // location of Root, for messages
	For   string // name of the command, for messages
}

// OpenPictures opens a folder of images, or a .zip file of one.
func OpenPictures(ctx context.Context, where location.Source, command string) (p Pictures, err error) {
	p = Pictures{Where: where.String(), For: command}
	if p.Root, err = imageroot.Open(ctx, where); err != nil {
		err = hint.With(err, "%s", p.adviseOnPictures())
	}
	return p, err
}

// adviseOnPictures returns advice for the user if images cannot be read.
func (p Pictures) adviseOnPictures() string {
	return fmt.Sprintf("give the folder of the images, or a .zip file of it, with %s", config.Key("data.root"))
}

// readThumbnails reads images, reduced to at most side pixels in width and height. An image that cannot be read is nil
// and is reported with Host.Note. It is an error if no image can be read.
func (p Pictures) readThumbnails(ctx context.Context, h Host, paths []string, side int) ([]image.Image, error) {
	h = h.withDefaults()
	at, end := h.Watch("images")
	defer end()
	var mutex sync.Mutex
	n := 0
	small, err := backbone.Thumbnails(ctx, p.Root, paths, side, func() {
		mutex.Lock()
		defer mutex.Unlock()
		n++
		at(n, len(paths))
	})
	if err != nil {
		return nil, err
	}
	out, bad := make([]image.Image, len(paths)), []lookup.LeftOut{}
	for i, s := range small {
		if s.Err != nil {
			bad = append(bad, lookup.LeftOut{Path: paths[i], Reason: s.Err.Error()})
			continue
		}
		out[i] = s.Image
	}
	if len(bad) > 0 && len(bad) == len(paths) {
		return nil, hint.With(
			fmt.Errorf("%s: cannot read any of the %d images in %s, the first is %s: %s",
				p.For, len(paths), p.Where, bad[0].Path, bad[0].Reason),
			"%s", p.adviseOnPictures())
	}
	if len(bad) > 0 {
		h.Note("%d of %d images cannot be shown, the first is %s: %s",
			len(bad), len(paths), bad[0].Path, bad[0].Reason)
	}
	return out, nil
}

// pictureFiles returns encoded thumbnails of a run's images by path, without the images that cannot be read.
func pictureFiles(ctx context.Context, h Host, run *folder.Run, paths []string, side int) (map[string][]byte, error) {
	p, err := OpenPictures(ctx, run.ImageRoot(), run.For)
	if err != nil {
		return nil, err
	}
	return p.Files(ctx, h, paths, side)
}

// Files returns encoded thumbnails by path, at most side pixels wide and high. Images that cannot be read are
// missing from the map.
func (p Pictures) Files(ctx context.Context, h Host, paths []string, side int) (map[string][]byte, error) {
	paths = features.Distinct(paths)
	small, err := p.readThumbnails(ctx, h, paths, side)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, img := range small {
		if img == nil {
			continue
		}
		if files[paths[i]], err = encodePicture(img); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.For, paths[i], err)
		}
	}
	return files, nil
}

// encodePicture encodes a thumbnail on a white background: as PNG up to 64 × 64 pixels, otherwise as JPEG.
func encodePicture(img image.Image) ([]byte, error) {
	flat := image.NewRGBA(img.Bounds())
	draw.Draw(flat, flat.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, img, img.Bounds().Min, draw.Over)
	var b bytes.Buffer
	if size := flat.Rect.Size(); max(size.X, size.Y) <= 64 { // the page enlarges it, and JPEG artifacts would show
		err := png.Encode(&b, flat)
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: 85})
	return b.Bytes(), err
}
