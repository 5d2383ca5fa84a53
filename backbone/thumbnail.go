package backbone

import (
	"context"
	"fmt"
	"image"
	"io/fs"
	"math"
	"runtime"

	"github.com/disintegration/imaging"
	"golang.org/x/sync/errgroup"
)

// Thumbnail is a small picture for people to look at, or why there is none.
type Thumbnail struct {
	Image *image.NRGBA
	Err   error // leaves the path to the caller
}

// Thumbnails reads pictures and makes each small enough for side×side pixels, proportions kept and turned as EXIF says;
// what is smaller stays unchanged. The result is in the order of paths; only a context that is done is an error. done
// is called after each, from several goroutines, and may be nil.
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
				img, err := r.decode(paths[i])
				if err == nil {
					out[i].Image = imaging.Fit(img, side, side, imaging.Linear)
				}
				out[i].Err = err
				if done != nil {
					done()
				}
			}
			return nil
		})
	}
	return out, group.Wait()
}

// ReadThumbnail returns one picture as [Thumbnails] makes it, but for the last bits of large photographs, which it
// reduces while it decodes them: many times faster, to be made while somebody waits.
func ReadThumbnail(fsys fs.FS, path string, side int) (t Thumbnail) {
	defer func() {
		if p := recover(); p != nil {
			t = Thumbnail{Err: fmt.Errorf("reading the picture panicked: %v", p)}
		}
	}()
	r := reader{fsys: fsys, options: DecodeOptions{EXIF: true, Enough: func(w, h int) (int, int) {
		scale := min(float64(side)/float64(max(w, h)), 1)
		return int(math.Ceil(scale * float64(w))), int(math.Ceil(scale * float64(h)))
	}}}
	img, err := r.decode(path)
	if err != nil {
		return Thumbnail{Err: err}
	}
	return Thumbnail{Image: imaging.Fit(samplesOf(img), side, side, imaging.Linear)}
}

// FileType returns the media type of an image file that Decode reads, by its first bytes; "" of anything else.
func FileType(head []byte) string {
	for _, f := range formats() {
		if f.is(head) {
			return "image/" + f.name
		}
	}
	return ""
}
