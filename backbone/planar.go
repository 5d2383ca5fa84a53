package backbone

// planar resizes luma and chroma each at its own resolution and makes colours of the few pixels that are left, where the
// exact way makes colours of all pixels of the picture and resizes those. Both are linear but for roundings and for
// colours that are clipped; chroma at half the resolution is interpolated by the resize alone. It is what the fast
// decoder saves on photographs that are too small to be reduced.
type planar struct {
	across, down taps     // of chroma, where it has fewer samples than luma
	sheets       [3]sheet // Y, Cb, Cr

	luma []byte // one row of the result
	uv   []uint32
	rgb  []byte
	out  []int32
}

// sheet is one plane of a picture on its way through both filters.
type sheet struct {
	pix          []byte
	stride       int
	across, down *taps
	ring         [][]byte // rows after the horizontal filter
	next         int      // the first row that it has not seen
	sum          []int32  // one row of the vertical filter
}

// planesOf is the whole picture that src shows as luma and chroma, nil where it shows another, or a part.
func planesOf(src source) *planes {
	switch s := src.(type) {
	case *planes:
		return s
	case window:
		if p, ok := s.of.(*planes); ok && s.x == 0 && s.y == 0 && s.w == p.w && s.h == p.h {
			return p
		}
	}
	return nil
}

// stream is [Preprocessor.stream] by way of planes.
func (r *planar) stream(q *Preprocessor, src *planes, emit func(row int, values []int32)) {
	across, down := &q.across, &q.down
	if src.cw < src.w {
		across = &r.across
		across.computeSpan(src.cw, float64(src.w)/float64(stepOf(src.w, src.cw)), q.across.out, q.across.lo, q.across.hi, q.kernel)
	}
	if src.ch < src.h {
		down = &r.down
		down.computeSpan(src.ch, float64(src.h)/2, q.down.out, q.down.lo, q.down.hi, q.kernel)
	}
	r.sheets[0].begin(src.img.Y, src.img.YStride, &q.across, &q.down)
	r.sheets[1].begin(src.img.Cb, src.img.CStride, across, down)
	r.sheets[2].begin(src.img.Cr, src.img.CStride, across, down)
	n := len(q.across.start)
	r.luma, r.uv, r.rgb, r.out = resized(r.luma, n), resized(r.uv, n), resized(r.rgb, 3*n), resized(r.out, 3*n)
	for row := range q.down.start {
		y, cb, cr := r.sheets[0].row(row), r.sheets[1].row(row), r.sheets[2].row(row)
		for i, v := range y {
			r.luma[i] = clipTable[uint32(v)>>weightBits]
			r.uv[i] = uint32(clipTable[uint32(cb[i])>>weightBits]) | uint32(clipTable[uint32(cr[i])>>weightBits])<<16
		}
		toRGB(r.rgb, r.luma, r.uv)
		red, green, blue := r.out[:n], r.out[n:2*n], r.out[2*n:]
		for i := range red {
			p := r.rgb[3*i : 3*i+3 : 3*i+3]
			red[i], green[i], blue[i] = int32(p[0])<<weightBits, int32(p[1])<<weightBits, int32(p[2])<<weightBits
		}
		emit(row, r.out)
	}
}

// stepOf is how many columns share one of n chroma samples.
func stepOf(w, n int) int {
	if n*2 < w {
		return 4
	}
	return 2
}

// begin prepares for a plane, keeping the memory of the last one.
func (s *sheet) begin(pix []byte, stride int, across, down *taps) {
	s.pix, s.stride, s.across, s.down, s.next = pix, stride, across, down, 0
	for len(s.ring) < down.width {
		s.ring = append(s.ring, nil)
	}
	for i := range s.ring {
		s.ring[i] = resized(s.ring[i], len(across.start))
	}
	s.sum = resized(s.sum, len(across.start))
}

// row is one row of the result before its last rounding. Rows are asked for in order.
func (s *sheet) row(i int) []int32 {
	first, width := s.down.start[i], s.down.width
	for s.next = max(s.next, first); s.next < first+width; s.next++ {
		resampleGrey(s.ring[s.next%width], s.pix[s.next*s.stride:], 0, s.across)
	}
	resampleDown(s.sum, s.ring[:width], s.down, i)
	return s.sum
}
