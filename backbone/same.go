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
	sameSide    = 64 // of the thumbnails that are compared
	sameCells   = 32 // most cells along a side in which they are compared: as many as the smaller one has pixels
	sameMargins = 12 // most 128ths of a side that may be cropped at each edge: 9 %
	sameLeast   = 0.985
	fewCells    = 20 // along a side, in fewer of which different digits look alike
	sameFew     = 0.99
	sameFar     = 0.95  // of coarse cells, below which finer ones are not compared
	sameNoisy   = 0.95  // enough if the rest is noise, as that of a JPEG of 32 pixels: coarse cells agree
	sameCoarse  = 0.998 // of coarseCells
	coarseCells = 12
	tintCells   = 8
	sameTint    = 0.95
	flat        = 2 // most deviation, in levels of 256, of a picture without content
)

// SamePictures reports for pairs of files whether they hold the same picture: perhaps scaled, saved again, mirrored, or
// with up to 9 % cropped at every edge. A file that cannot be read is not the same as any. The only error is that of
// ctx.
//
// Under one of these changes the luminance of both, in as many cells along a side as the smaller one has pixels but at
// most 32, must correlate by 0.985 or more, in fewer than 20 cells by 0.99; or by 0.95 or more and in 12 cells by
// 0.998; and their colours in 8 cells by 0.95 (experiments/audit).
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
				same[i] = a.Err == nil && b.Err == nil && isSamePicture(a.Image, b.Image)
			}
			return nil
		})
	}
	return same, group.Wait()
}

// isSamePicture compares a with every change of b, and b with every crop of a.
func isSamePicture(a, b *image.NRGBA) bool {
	if flatA, flatB := isFlat(a), isFlat(b); flatA || flatB {
		near := flatA && flatB
		for k := range 3 {
			near = near && byteDistance(a.Pix[k], b.Pix[k]) <= flat
		}
		return near
	}
	p, q := measurePicture(a), measurePicture(b)
	n := max(coarseCells, min(sameCells, p.w, p.h, q.w, q.h))
	wholeP, wholeQ := p.light.reduceChanged(change{}, coarseCells), q.light.reduceChanged(change{}, coarseCells)
	for margin := range sameMargins + 1 {
		for _, c := range []change{{margin, false}, {margin, true}} {
			if p.isSameChanged(q, c, n, correlateCells(wholeP, q.light.reduceChanged(c, coarseCells))) ||
				margin > 0 && q.isSameChanged(p, c, n, correlateCells(p.light.reduceChanged(c, coarseCells), wholeQ)) {
				return true
			}
		}
	}
	return false
}

// change is what may have been done to a picture.
type change struct {
	margin   int // 128ths of its sides, cropped at every edge
	mirrored bool
}

// seenPicture holds the luminance and the colours of a thumbnail.
type seenPicture struct {
	w, h  int
	light plane
	tints [3]plane
}

// plane holds, for each corner of a pixel, the sum of one number per pixel above and to its left: w+1 sums in a row.
type plane struct {
	w, h int
	sums []float64
}

// newPlane sums up w·h numbers, row by row.
func newPlane(w, h int, at func(i int) float64) plane {
	p := plane{w, h, make([]float64, (w+1)*(h+1))}
	for y := range h {
		above, row, line := p.sums[y*(w+1):][:w+1], p.sums[(y+1)*(w+1):][:w+1], 0.0
		for x := range w {
			line += at(y*w + x)
			row[x+1] = above[x+1] + line
		}
	}
	return p
}

func measurePicture(img *image.NRGBA) seenPicture {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	tint := func(k int) func(i int) float64 {
		return func(i int) float64 { return float64(img.Pix[i/w*img.Stride+4*(i%w)+k]) }
	}
	red, green, blue := tint(0), tint(1), tint(2)
	return seenPicture{w, h,
		newPlane(w, h, func(i int) float64 { return 0.299*red(i) + 0.587*green(i) + 0.114*blue(i) }),
		[3]plane{newPlane(w, h, red), newPlane(w, h, green), newPlane(w, h, blue)}}
}

// isSameChanged reports whether a changed q is the picture p; n are the finest cells, coarse is their correlation in
// coarseCells.
func (p seenPicture) isSameChanged(q seenPicture, c change, n int, coarse float64) bool {
	if coarse < sameFar {
		return false
	}
	fine := correlateCells(p.light.reduceChanged(change{}, n), q.light.reduceChanged(c, n))
	least := sameLeast
	if n < fewCells {
		least = sameFew
	}
	if fine < sameNoisy || fine < least && coarse < sameCoarse {
		return false
	}
	colours := func(of seenPicture, c change) (all []float64) {
		for _, t := range of.tints {
			all = append(all, t.sumPlaneCells(c, tintCells)...)
		}
		return standardiseCells(all)
	}
	return correlateCells(colours(p, change{}), colours(q, c)) >= sameTint
}

func correlateCells(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// reduceChanged returns n×n cells of a changed picture, without their mean, as a vector of unit length.
func (p plane) reduceChanged(c change, n int) []float64 {
	return standardiseCells(p.sumPlaneCells(c, n))
}

// sumPlaneCells returns the sums of n×n cells of a changed picture. A pixel on a border counts for both sides by its
// shares.
func (p plane) sumPlaneCells(c change, n int) []float64 {
	line := p.w + 1
	xs, ys := cellBorders(p.w, c.margin, n), cellBorders(p.h, c.margin, n)
	cells, above, below := make([]float64, n*n), make([]float64, n+1), make([]float64, n+1)
	for k, y := range ys {
		row := p.sums[y.at*line:]
		next := row[min(line, len(row)-line):]
		for j, x := range xs {
			left := row[x.at] + y.share*(next[x.at]-row[x.at])
			after := min(x.at+1, p.w)
			right := row[after] + y.share*(next[after]-row[after])
			below[j] = left + x.share*(right-left)
		}
		if k > 0 {
			for j := range n {
				to := j
				if c.mirrored {
					to = n - 1 - j
				}
				cells[(k-1)*n+to] = below[j+1] - above[j+1] - below[j] + above[j]
			}
		}
		above, below = below, above
	}
	return cells
}

// border lies a share of a pixel after a whole number of them.
type border struct {
	at    int
	share float64
}

// cellBorders divides n pixels, without a margin in 128ths at both ends, into cells.
func cellBorders(n, margin, cells int) []border {
	from := float64(n*margin) / 128
	list := make([]border, cells+1)
	for i := range list {
		v := from + (float64(n)-2*from)*float64(i)/float64(cells)
		at := min(int(v), n)
		list[i] = border{at, v - float64(at)}
	}
	return list
}

func standardiseCells(v []float64) []float64 {
	mean, norm := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for i := range v {
		v[i] -= mean
		norm += v[i] * v[i]
	}
	norm = math.Max(math.Sqrt(norm), 1e-9)
	for i := range v {
		v[i] /= norm
	}
	return v
}

// isFlat reports whether all pixels have nearly the same colour.
func isFlat(img *image.NRGBA) bool {
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			for k := range 3 {
				if byteDistance(img.Pix[y*img.Stride+4*x+k], img.Pix[k]) > flat {
					return false
				}
			}
		}
	}
	return true
}
