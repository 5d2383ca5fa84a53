package backbone

import (
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"winnow/features"
)

// Viewer makes training views of images. It reuses scratch memory, so each goroutine needs its own Viewer.
type Viewer struct {
	q *Preprocessor
	a Augmentation

	canvas []byte // input of a warp, plane by plane
	pix    []byte // bytes of the view; used only if the view is warped or its colours change
}

// NewViewer checks p and a and returns a Viewer for them.
func NewViewer(p Preprocessing, a Augmentation) (*Viewer, error) {
	q, err := NewPreprocessor(p)
	if err != nil {
		return nil, err
	}
	if err := a.checkAugmentation(); err != nil {
		return nil, err
	}
	if a.Pad >= min(p.Crop, p.High()) {
		return nil, fmt.Errorf("backbone: augmentation: pad is %d, expected less than the network's size of %s",
			a.Pad, p.SizeText())
	}
	if r := a.resizeForCrops(p); a.Crop == cropRandom && r.Resize > 0 &&
		(r.Resize+2*a.Pad < p.Crop || r.boxHeight()+2*a.Pad < p.High()) {
		return nil, fmt.Errorf("backbone: augmentation: resize is %d with pad %d, "+
			"expected at least the network's size of %s", r.Resize, a.Pad, p.SizeText())
	}
	return &Viewer{q: q, a: a}, nil
}

// Into fills dst with one view: Planes × High × Crop values in the order channel, row, column.
//
// Every view takes 34 numbers from rng (rng.Float64), for any augmentation and any image. The zero Augmentation takes
// none: rng may then be nil, and dst gets the same bits as from [Preprocessor.Into].
func (v *Viewer) Into(dst []float32, img image.Image, rng *rand.Rand) error {
	if v.a == (Augmentation{}) {
		return v.q.Into(dst, img)
	}
	if len(dst) != v.q.p.Size() {
		return fmt.Errorf("backbone: augmentation: dst has length %d, expected %d", len(dst), v.q.p.Size())
	}
	if img.Bounds().Empty() {
		return fmt.Errorf("backbone: augmentation: the image is empty: bounds %v", img.Bounds())
	}
	if rng == nil {
		return errors.New("backbone: augmentation: rng is nil, expected a random generator")
	}
	b := img.Bounds()
	v.renderView(dst, img, v.a.planView(v.q.p, b.Dx(), b.Dy(), drawFrom(rng)))
	return nil
}

func (v *Viewer) renderView(dst []float32, img image.Image, w view) {
	frame := area{w.across.start, w.down.start, v.q.p.Crop, v.q.p.High()}
	if !w.warp.isWarped() && !w.colour.changesColour() {
		v.writeDirect(dst, img, w, frame)
		return
	}
	v.pix = features.Grow(v.pix, v.q.p.Size())
	if w.warp.isWarped() {
		from := w.warp.neededArea(frame, w.across.total, w.down.total)
		v.canvas = features.Grow(v.canvas, v.q.p.Planes()*from.w*from.h)
		v.paintArea(v.canvas, img, w, from)
		w.warp.applyWarp(v.pix, v.canvas, from, frame, v.q.p.Planes())
	} else {
		v.paintArea(v.pix, img, w, frame)
	}
	w.colour.applyColour(v.pix, v.q.p.Planes())
	v.normaliseView(dst, w.flip)
}

// area is a rectangle of the resized and padded image.
type area struct{ x, y, w, h int }

// takeSamples returns the range lo ≤ i < hi of resized samples that appear in a window of the padded axis, and the
// place of sample lo in the window. The window has size samples and starts at first.
func (s strip) takeSamples(first, size int) (lo, hi, at int) {
	lo, hi = max(first-s.before, 0), min(first+size-s.before, s.out)
	return lo, hi, lo + s.before - first
}

// streamArea resamples the part of the image that an area shows, and passes each row to emit with its position in the
// area. Before the first row it calls begin; padded reports whether part of the area is black.
func (v *Viewer) streamArea(img image.Image, w view, from area, begin func(padded bool),
	emit func(y, x int, values []int32)) {
	x0, x1, left := w.across.takeSamples(from.x, from.w)
	y0, y1, top := w.down.takeSamples(from.y, from.h)
	begin(x1-x0 < from.w || y1-y0 < from.h)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	v.q.across.computeTaps(w.across.n, w.across.out, x0, x1, v.q.kernel)
	v.q.down.computeTaps(w.down.n, w.down.out, y0, y1, v.q.kernel)
	part := window{sourceOf(img), w.across.from, w.down.from, w.across.n, w.down.n}
	v.q.streamRows(part, func(row int, values []int32) { emit(top+row, left, values) })
}

// writeDirect writes a view that is only cropped, resized and flipped, straight to normalised floats.
func (v *Viewer) writeDirect(dst []float32, img image.Image, w view, frame area) {
	begin := func(padded bool) {
		if padded {
			v.q.fillZero(dst)
		}
	}
	emit := func(y, x int, values []int32) { v.q.emitRow(dst, y, x, values) }
	if w.flip {
		emit = func(y, x int, values []int32) { v.emitFlipped(dst, y, x, values) }
	}
	v.streamArea(img, w, frame, begin, emit)
}

// emitFlipped writes a row as [Preprocessor.emitRow] does, but from right to left.
func (v *Viewer) emitFlipped(dst []float32, y, x int, values []int32) {
	q := v.q
	wide, high, n := q.p.Crop, q.p.High(), len(q.across.start)
	for c := range q.p.Planes() {
		at := q.plane[c]
		levels := &q.levels[at]
		out := dst[(at*high+y)*wide+wide-x-n:][:n]
		for i, s := range values[c*n:][:n] {
			out[n-1-i] = levels[clipTable[uint32(s)>>weightBits]]
		}
	}
}

// paintArea writes an area as bytes, one plane after another: red, green, blue.
func (v *Viewer) paintArea(dst []byte, img image.Image, w view, from area) {
	begin := func(padded bool) {
		if padded {
			clear(dst)
		}
	}
	v.streamArea(img, w, from, begin, func(y, x int, values []int32) {
		n := len(v.q.across.start)
		for c := range v.q.p.Planes() {
			out := dst[(c*from.h+y)*from.w+x:][:n]
			for i, s := range values[c*n:][:n] {
				out[i] = clipTable[uint32(s)>>weightBits]
			}
		}
	})
}

// normaliseView converts the bytes of a view to the normalised values of the network's input.
func (v *Viewer) normaliseView(dst []float32, flip bool) {
	q := v.q
	wide, high := q.p.Crop, q.p.High()
	for c := range q.p.Planes() {
		at := q.plane[c]
		levels := &q.levels[at]
		for y := range high {
			in := v.pix[(c*high+y)*wide:][:wide]
			out := dst[(at*high+y)*wide:][:wide]
			if flip {
				for x, b := range in {
					out[wide-1-x] = levels[b]
				}
				continue
			}
			for x, b := range in {
				out[x] = levels[b]
			}
		}
	}
}

// window presents a rectangle of an image as a separate image. Filters do not read beyond the rectangle, just as if
// the image had been cropped first.
type window struct {
	of         source
	x, y, w, h int
}

func (p window) sourceSize() (int, int) { return p.w, p.h }
func (p window) readSourceRow(dst []byte, y, x0, x1 int) {
	p.of.readSourceRow(dst, p.y+y, p.x+x0, p.x+x1)
}
