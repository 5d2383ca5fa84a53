package backbone

import (
	"context"
	"image"
	"io/fs"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
)

const (
	sameSide    = 64   // of the thumbnails that are compared
	sameCells   = 32   // that a thumbnail is reduced to, along either side
	sameMargins = 6    // most pixels of a thumbnail that may be cropped at each edge: 9 %
	sameLeast   = 0.97 // least correlation of two pictures of the same
	flat        = 2    // most deviation, in levels of 256, of a picture without content
)

// SamePictures reports for pairs of files whether they hold the same picture: perhaps scaled, saved again, mirrored, or
// with up to 9 % cropped at every edge. A file that cannot be read is not the same as any. The only error is that of
// ctx.
//
// The colours of both, reduced to 32×32 cells, without their common mean, must correlate by 0.97 or more under one of
// these changes. On copies made in eight ways of photographs, no two different ones do among those with similar
// features; of drawn digits some do (docs/find-wrong-labels.md).
func SamePictures(ctx context.Context, fsys fs.FS, pairs [][2]string) ([]bool, error) {
	same := make([]bool, len(pairs))
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(pairs); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				a, b := ReadThumbnail(fsys, pairs[i][0], sameSide), ReadThumbnail(fsys, pairs[i][1], sameSide)
				same[i] = a.Err == nil && b.Err == nil && alike(a.Image, b.Image)
			}
			return nil
		})
	}
	return same, group.Wait()
}

// alike compares a with every change of b, and b with every crop of a.
func alike(a, b *image.NRGBA) bool {
	whole, flatA := reduced(a, 0, false)
	other, flatB := reduced(b, 0, false)
	if flatA || flatB {
		return flatA && flatB && math.Abs(float64(a.Pix[0])-float64(b.Pix[0])) <= flat &&
			math.Abs(float64(a.Pix[1])-float64(b.Pix[1])) <= flat &&
			math.Abs(float64(a.Pix[2])-float64(b.Pix[2])) <= flat
	}
	for margin := range sameMargins + 1 {
		for _, mirrored := range []bool{false, true} {
			if changed, _ := reduced(b, margin, mirrored); correlation(whole, changed) >= sameLeast {
				return true
			}
			if changed, _ := reduced(a, margin, mirrored); correlation(changed, other) >= sameLeast {
				return true
			}
		}
	}
	return false
}

func correlation(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// reduced returns the colours of cells of a picture, cropped by margin/64 of its sides at every edge, without their
// mean, as a vector of unit length. flat reports that there is no content.
func reduced(img *image.NRGBA, margin int, mirrored bool) (cells []float64, blank bool) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	across, down := shares(w, margin), shares(h, margin)
	rows := make([]float64, h*sameCells*3) // each row of pixels in cells
	for y := range h {
		for c, list := range across {
			to := c
			if mirrored {
				to = sameCells - 1 - c
			}
			for _, s := range list {
				p := img.Pix[y*img.Stride+4*s.at:]
				for k := range 3 {
					rows[(y*sameCells+to)*3+k] += s.weight * float64(p[k])
				}
			}
		}
	}
	const line = sameCells * 3
	cells = make([]float64, sameCells*line)
	mean := 0.0
	for c, list := range down {
		for _, s := range list {
			for j, v := range rows[s.at*line:][:line] {
				cells[c*line+j] += s.weight * v
				mean += s.weight * v / float64(len(cells))
			}
		}
	}
	norm := 0.0
	for i := range cells {
		cells[i] -= mean
		norm += cells[i] * cells[i]
	}
	norm = math.Sqrt(norm)
	for i := range cells {
		cells[i] /= math.Max(norm, 1e-9)
	}
	return cells, flatRows(rows, h)
}

// flatRows reports whether all cells of all rows have nearly the same colour.
func flatRows(rows []float64, h int) bool {
	for i := range h * sameCells {
		for k := range 3 {
			if math.Abs(rows[3*i+k]-rows[k]) > flat {
				return false
			}
		}
	}
	return true
}

type share struct {
	at     int
	weight float64
}

// shares divides n pixels, without a margin at both ends, into cells: the pixels of each and their shares in it.
func shares(n, margin int) [sameCells][]share {
	from := float64(n*margin) / sameSide
	width := (float64(n) - 2*from) / sameCells
	var cells [sameCells][]share
	for c := range cells {
		low := from + float64(c)*width
		high := low + width
		for at := int(low); at < n && float64(at) < high-1e-9; at++ {
			part := math.Min(high, float64(at+1)) - math.Max(low, float64(at))
			cells[c] = append(cells[c], share{at, part / width})
		}
	}
	return cells
}
