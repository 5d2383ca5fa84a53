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

// Thumbnail is a small version of a picture, or the reason why there is none.
type Thumbnail struct {
	Image *image.NRGBA
	Err   error // does not name the path
}

// Thumbnails reads pictures and reduces each to fit into side×side pixels, with its proportions, turned by its
// EXIF orientation. Smaller pictures stay unchanged. The result is in the order of paths; the only error is
// that of ctx. done is called after each picture, from several goroutines, and may be nil.
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

// ReadThumbnail returns one picture as [Thumbnails] does, except for the last bits of large photographs: they
// are reduced while decoding, which is many times faster, for pages that wait for it.
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

// fitPicture reduces a picture. imaging runs goroutines of its own, where a panic would end the program, so it never
// gets a palette, whose indices may be out of range.
func fitPicture(img image.Image, side int) *image.NRGBA {
	if p, ok := img.(*image.Paletted); ok {
		img = lookedUp(p)
	}
	return imaging.Fit(img, side, side, imaging.Linear)
}

// lookedUp returns the colours of a picture with a palette. Indices beyond the palette are black.
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

// FileType returns the media type of an image file from its first bytes, or "" if Decode cannot read it.
func FileType(head []byte) string {
	for _, f := range listFormats() {
		if f.is(head) {
			return "image/" + f.name
		}
	}
	return ""
}
