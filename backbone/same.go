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
	sameSide    = 64 // side in pixels of the thumbnails that are compared
	sameCells   = 32 // most cells along a side: the smaller image's pixels limit the number
	sameMargins = 12 // most 128ths of a side cropped at each edge: 9 %
	sameLeast   = 0.985
	fewCells    = 20 // with fewer cells along a side, different digits look similar
	sameFew     = 0.99
	sameFar     = 0.95  // coarse correlation below which finer cells are not compared
	sameNoisy   = 0.95  // correlation that suffices if coarse cells agree: fine cells may be noise
	sameCoarse  = 0.998 // correlation in coarseCells cells along a side
	coarseCells = 12
	tintCells   = 8
	sameTint    = 0.95
	flat        = 2 // largest deviation, of 256 levels, of an image without content
)

// SamePictures reports for each pair of files whether both hold the same image: perhaps scaled, saved again, mirrored,
// or cropped by up to 9 % at every edge. A file that cannot be read is not the same as any other. SamePictures fails
// only if ctx is done.
//
// Two images are the same if, under one of these changes, their luminances and colours correlate. The luminance is
// compared in as many cells along a side as the smaller image has pixels, but at most 32. It must correlate by 0.985,
// or 0.99 if there are fewer than 20 cells; or by 0.95, and by 0.998 in 12 cells. The colours must correlate by 0.95
// in 8 cells (experiments/audit).
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

// isSamePicture compares a with every changed version of b, and b with every crop of a.
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

// change describes how one image of a pair may differ from the other.
type change struct {
	margin   int // 128ths of the sides, cropped at every edge
	mirrored bool
}

// seenPicture holds the luminance and the colours of a thumbnail for comparing.
type seenPicture struct {
	w, h  int
	light plane
	tints [3]plane
}

// plane is an integral image: entry (x, y) holds the sum of all pixels above and to the left of corner (x, y), w+1
// entries per row.
type plane struct {
	w, h int
	sums []float64
}

// newPlane builds the integral image of w·h numbers, given row by row.
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

// isSameChanged reports whether p and the changed q show the same image. n is the finest number of cells along a side,
// coarse the luminance's correlation in coarseCells.
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

// reduceChanged returns n×n cells of a changed image, minus their mean, as a vector of length 1.
func (p plane) reduceChanged(c change, n int) []float64 {
	return standardiseCells(p.sumPlaneCells(c, n))
}

// sumPlaneCells returns the sums of n×n cells of a changed image. A pixel on the border between two cells is divided
// between both in proportion.
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

// border is a position between pixels: a whole number of them plus a share of the next.
type border struct {
	at    int
	share float64
}

// cellBorders divides n pixels, except for margin/128·n at both ends, into equal cells and returns their borders.
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
