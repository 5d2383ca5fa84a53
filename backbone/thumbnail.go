package backbone

import (
	"context"
	"image"
	"image/color"
	"io/fs"
	"math"
	"runtime"

	"github.com/disintegration/imaging"
	"golang.org/x/sync/errgroup"
)

// Thumbnail is a small version of an image, or the error that prevented it.
type Thumbnail struct {
	Image *image.NRGBA
	Err   error // does not name the path
}

// Thumbnails reads images, rotates them by their EXIF orientation and reduces each to fit into side×side pixels,
// keeping its proportions. Smaller images are not resized. The result is in the order of paths. Thumbnails fails only
// if ctx is done. done is called after each image, from several goroutines, and may be nil.
func Thumbnails(ctx context.Context, fsys fs.FS, paths []string, side int, done func()) ([]Thumbnail, error) {
	out := make([]Thumbnail, len(paths))
	workers := runtime.GOMAXPROCS(0)
	var group errgroup.Group
	for w := range workers {
		group.Go(func() error {
			r := reader{fsys: fsys, options: DecodeOptions{EXIF: true}}
			for i := w; i < len(paths); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				out[i] = r.makeThumbnail(paths[i], side)
				if done != nil {
					done()
				}
			}
			return nil
		})
	}
	return out, group.Wait()
}

// ReadThumbnail returns one image as [Thumbnails] does. Large photographs are reduced while decoding, which is many
// times faster, but may change the last bits. It is meant for pages that wait for the thumbnail.
func ReadThumbnail(fsys fs.FS, path string, side int) Thumbnail {
	r := reader{fsys: fsys, options: DecodeOptions{EXIF: true, Enough: func(w, h int) (int, int) {
		scale := min(float64(side)/float64(max(w, h)), 1)
		return int(math.Ceil(scale * float64(w))), int(math.Ceil(scale * float64(h)))
	}}}
	return r.makeThumbnail(path, side)
}

func (r *reader) makeThumbnail(path string, side int) (t Thumbnail) {
	t.Err = r.usePicture(path, func(img image.Image) error {
		t.Image = fitPicture(img, side)
		return nil
	})
	return t
}

// fitPicture reduces an image to side×side pixels. Package imaging runs its own goroutines, where a panic would end
// the program. It therefore never gets a palette image, whose indices may be out of range.
func fitPicture(img image.Image, side int) *image.NRGBA {
	if p, ok := img.(*image.Paletted); ok {
		img = lookedUp(p)
	}
	return imaging.Fit(img, side, side, imaging.Linear)
}

// lookedUp converts a palette image to colours. Indices beyond the palette become black.
func lookedUp(p *image.Paletted) *image.NRGBA {
	var table [256]color.NRGBA
	for i := range table {
		table[i] = color.NRGBA{A: 255}
		if i < len(p.Palette) {
			table[i] = color.NRGBAModel.Convert(p.Palette[i]).(color.NRGBA)
		}
	}
	out := image.NewNRGBA(p.Rect)
	for y := range p.Rect.Dy() {
		row := out.Pix[y*out.Stride:]
		for x, v := range p.Pix[y*p.Stride:][:p.Rect.Dx()] {
			c := table[v]
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = c.R, c.G, c.B, c.A
		}
	}
	return out
}

// FileType returns the media type of an image file from its first bytes, or "" if Decode does not support it.
func FileType(head []byte) string {
	for _, f := range listFormats() {
		if f.is(head) {
			return "image/" + f.name
		}
	}
	return ""
}
