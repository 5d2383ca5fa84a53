package backbone

import (
	"fmt"
	"image"

	"winnow/features"
)

// Preprocessor turns images into a network's input. It reuses scratch memory, so each goroutine needs its own
// Preprocessor.
//
// It computes only the pixels within the crop. Rows pass through the horizontal filter into a ring buffer of the
// vertical filter's height. They are rounded to bytes in between, as in PIL, and written as normalised float32 planes.
// The result equals convert, Resize, CenterCrop, ToTensor and Normalize in PIL and torchvision, to the byte.
type Preprocessor struct {
	p      Preprocessing
	kernel kernel
	levels [3][256]float32 // normalised value of each byte, for each of the network's channels
	plane  [3]int          // output planes of red, green and blue

	across, down taps
	line         []byte   // one row of the image, RGB or grey
	ring         [][]byte // rows after the horizontal filter, each plane by plane
	sum          []int32  // sums of the vertical filter for one output row
}

// NewPreprocessor checks p and returns a Preprocessor for it.
func NewPreprocessor(p Preprocessing) (*Preprocessor, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	q := &Preprocessor{p: p, plane: [3]int{0, 1, 2}}
	q.kernel, _ = kernelOf(p.Interpolation)
	if p.Channels == "BGR" {
		q.plane = [3]int{2, 1, 0}
	}
	for c := range p.Planes() {
		for v := range q.levels[c] {
			q.levels[c][v] = float32((float64(v)*float64(p.Scale) - float64(p.Mean[c])) / float64(p.Std[c]))
		}
	}
	return q, nil
}

// Preprocess fills dst with the network's input for one image; see [Preprocessor].
func Preprocess(dst []float32, img image.Image, p Preprocessing) error {
	q, err := NewPreprocessor(p)
	if err != nil {
		return err
	}
	return q.Into(dst, img)
}

// Into fills dst with the network's input for one image: Planes × High × Crop values in the order channel, row, column.
func (q *Preprocessor) Into(dst []float32, img image.Image) error {
	if len(dst) != q.p.Size() {
		return fmt.Errorf("backbone: dst has length %d, expected %d", len(dst), q.p.Size())
	}
	if img.Bounds().Empty() {
		return fmt.Errorf("backbone: the image is empty: bounds %v", img.Bounds())
	}
	src := sourceOf(img)
	w, h := src.sourceSize()
	rw, rh := q.p.targetSize(w, h)
	x0, x1, left := centreCrop(rw, q.p.Crop)
	y0, y1, top := centreCrop(rh, q.p.High())
	if x1-x0 < q.p.Crop || y1-y0 < q.p.High() {
		q.fillZero(dst)
	}
	q.across.computeTaps(w, rw, x0, x1, q.kernel)
	q.down.computeTaps(h, rh, y0, y1, q.kernel)
	q.streamRows(src, func(row int, values []int32) { q.emitRow(dst, top+row, left, values) })
	return nil
}

// fillZero fills dst with black, the padding of a crop that is larger than the image.
func (q *Preprocessor) fillZero(dst []float32) {
	size := q.p.High() * q.p.Crop
	for c := range q.p.Planes() {
		plane := dst[c*size : (c+1)*size]
		for i := range plane {
			plane[i] = q.levels[c][0]
		}
	}
}

// streamRows filters the image and passes each output row to emit, before the row is rounded to bytes.
func (q *Preprocessor) streamRows(src source, emit func(row int, values []int32)) {
	cols := len(q.across.start) * q.p.Planes()
	q.reserveFilterRows(cols)
	from, end := q.across.inputSpan()
	next := q.down.start[0]
	width := q.down.width
	for row, first := range q.down.start {
		for ; next < first+width; next++ {
			if next >= first { // if a tall image shrinks to few rows, some of its rows are not needed
				q.filterColumns(q.ring[next%width][:cols], src, next, from, end)
			}
		}
		var rows [group][]byte
		var ws [group]int32
		for j := 0; j < width; j += group {
			for k := range rows {
				at := min(j+k, width-1)
				rows[k], ws[k] = q.ring[(first+at)%width][:cols], 0
				if j+k < width {
					ws[k] = q.down.weights[row*width+at]
				}
			}
			resampleColumns(q.sum[:cols], &rows, &ws, j == 0)
		}
		emit(row, q.sum[:cols])
	}
}

// reserveFilterRows allocates as many rows of cols samples as the vertical filter needs.
func (q *Preprocessor) reserveFilterRows(cols int) {
	for len(q.ring) < q.down.width {
		q.ring = append(q.ring, nil)
	}
	for i := range q.ring {
		q.ring[i] = features.Grow(q.ring[i], cols)
	}
	q.sum = features.Grow(q.sum, cols)
	q.line = features.Grow(q.line, 3*q.across.in)
}

// filterColumns reads columns from … end of row y and writes the filtered row to dst.
func (q *Preprocessor) filterColumns(dst []byte, src source, y, from, end int) {
	line := q.line[:3*(end-from)]
	src.readSourceRow(line, y, from, end)
	if q.p.Planes() == 3 {
		resampleRow(dst, line, from, &q.across)
		return
	}
	resampleGrey(dst, toGrey(line), from, &q.across)
}

// toGrey replaces RGB by PIL's luma, in place: (19595·R + 38470·G + 7471·B + 2¹⁵) / 2¹⁶ (ITU-R 601).
func toGrey(line []byte) []byte {
	n := len(line) / 3
	for i := range n {
		p := line[3*i : 3*i+3 : 3*i+3]
		line[i] = uint8((19595*uint32(p[0]) + 38470*uint32(p[1]) + 7471*uint32(p[2]) + 1<<15) >> 16)
	}
	return line[:n]
}

// emitRow rounds one output row to bytes and writes their normalised values.
func (q *Preprocessor) emitRow(dst []float32, y, left int, values []int32) {
	wide, high, n := q.p.Crop, q.p.High(), len(q.across.start)
	for c := range q.p.Planes() {
		at := q.plane[c]
		levels := &q.levels[at]
		out := dst[(at*high+y)*wide+left:][:n]
		for i, v := range values[c*n:][:n] {
			out[i] = levels[clipTable[uint32(v)>>weightBits]]
		}
	}
}
