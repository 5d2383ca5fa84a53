package backbone

import "image"

// planes holds a JPEG's luma and chroma. Most photographs store chroma at half the resolution. libjpeg interpolates
// chroma with a triangle filter ("fancy upsampling"). The standard library repeats samples, with errors of up to 62 of
// 255. planes uses libjpeg's filter, so that pixels equal PIL's:
//
//	horizontally   even x: (3·c + left + 1)/4,   odd x: (3·c + right + 2)/4
//	both ways      t = 3·near + far row, then    even x: (3·t + left + 8)/16,  odd x: (3·t + right + 7)/16
//	vertically     (3·near + far + 1)/4 on even rows, + 2 instead of + 1 on odd rows
//
// Beyond the image's edge the edge sample is repeated. For the ratios 4:1:1 and 4:1:0, samples are repeated and not
// interpolated, as in libjpeg. Source: Independent JPEG Group, libjpeg's documentation of jdsample.c; the tests
// compare with PIL.
type planes struct {
	img    *image.YCbCr
	w, h   int
	cw, ch int      // size of a chroma plane, rounded up
	uv     []uint32 // Cb + Cr·2¹⁶ of the requested columns
	sum    []uint32 // t for the chroma columns needed and one more on each side, packed like uv
}

// twoLanes holds 1 in each 16-bit half: one multiplication by it handles Cb and Cr at once.
const twoLanes = 1<<16 | 1

func newPlanes(img *image.YCbCr) *planes {
	p := &planes{img: img, w: img.Rect.Dx(), h: img.Rect.Dy()}
	p.cw, p.ch = p.w, p.h
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		p.cw = (p.w + 1) / 2
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		p.cw = (p.w + 3) / 4
	}
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio410:
		p.ch = (p.h + 1) / 2
	}
	return p
}

func (p *planes) sourceSize() (int, int) { return p.w, p.h }

func (p *planes) readSourceRow(dst []byte, y, x0, x1 int) {
	if p.uv == nil {
		p.uv, p.sum = make([]uint32, p.w), make([]uint32, p.cw+2)
	}
	uv := p.uv[:x1-x0]
	near, far := y, y
	if p.ch < p.h {
		near, far = p.chromaRows(y)
	}
	switch r := p.img.SubsampleRatio; {
	case r == image.YCbCrSubsampleRatio444:
		p.interpolateChroma(uv, y, y, x0, 0)
	case r == image.YCbCrSubsampleRatio440:
		p.interpolateChroma(uv, near, far, x0, uint32(1+y&1)*twoLanes)
	case r == image.YCbCrSubsampleRatio420 && p.cw > 2:
		p.doubleColumns(uv, near, far, x0, 8*twoLanes, 7*twoLanes)
	case r == image.YCbCrSubsampleRatio422 && p.cw > 2: // t is 4·c, and the biases are 1/4 and 2/4
		p.doubleColumns(uv, y, y, x0, 4*twoLanes, 8*twoLanes)
	default:
		p.repeatChromaRow(uv, near, x0)
	}
	toRGB(dst, p.img.Y[y*p.img.YStride+x0:][:len(uv)], uv)
}

// chromaRows returns the chroma rows nearest and next nearest to row y, for chroma with half as many rows.
func (p *planes) chromaRows(y int) (near, far int) {
	near = y / 2
	if y&1 == 0 {
		return near, max(near-1, 0)
	}
	return near, min(near+1, p.ch-1)
}

// repeatChromaRow copies to every pixel the chroma sample that covers the pixel.
func (p *planes) repeatChromaRow(uv []uint32, row, x0 int) {
	step := 2
	if p.cw*2 < p.w {
		step = 4
	}
	for i := range uv {
		at := row*p.img.CStride + (x0+i)/step
		uv[i] = uint32(p.img.Cb[at]) | uint32(p.img.Cr[at])<<16
	}
}

// interpolateChroma interpolates two rows of chroma of full width: (3·near + far + bias)/4. If near and far are the
// same row, the result is that row.
func (p *planes) interpolateChroma(uv []uint32, near, far, x0 int, bias uint32) {
	p.weighChroma(uv, near, far, x0, bias, 2)
}

// weighChroma writes (3·near + far + bias) >> shift for two rows of chroma from a column on; shift is 2 (bytes) or 0.
func (p *planes) weighChroma(t []uint32, near, far, column int, bias uint32, shift uint) {
	near, far = near*p.img.CStride+column, far*p.img.CStride+column
	nb, nr := p.img.Cb[near:][:len(t)], p.img.Cr[near:][:len(t)]
	fb, fr := p.img.Cb[far:][:len(t)], p.img.Cr[far:][:len(t)]
	mask := uint32(1<<(10-shift)-1) * twoLanes
	for i := weighVector(t, nb, nr, fb, fr, bias, shift); i < len(t); i++ {
		sum := 3*(uint32(nb[i])|uint32(nr[i])<<16) + (uint32(fb[i]) | uint32(fr[i])<<16)
		t[i] = (sum + bias) >> shift & mask
	}
}

// doubleColumns interpolates 3·near + far to twice as many columns. uv begins at column x0 of the image.
func (p *planes) doubleColumns(uv []uint32, near, far, x0 int, even, odd uint32) {
	const mask = 255 * twoLanes
	first, last := x0/2, (x0+len(uv)-1)/2
	t := p.sum[:last-first+3] // t[i] is column first-1+i
	from, to := max(first-1, 0), min(last+1, p.cw-1)
	p.weighChroma(t[from-first+1:to-first+2], near, far, from, 0, 0)
	if first == 0 {
		t[0] = t[1]
	}
	if last == p.cw-1 {
		t[len(t)-1] = t[len(t)-2]
	}
	if x0&1 == 1 {
		uv[0] = (3*t[1] + t[2] + odd) >> 4 & mask
		uv, t = uv[1:], t[1:]
	}
	done := triangleVector(uv, t, even, odd)
	uv, t = uv[2*done:], t[done:]
	for len(uv) >= 2 && len(t) >= 3 {
		c := 3 * t[1]
		uv[0] = (c + t[0] + even) >> 4 & mask
		uv[1] = (c + t[2] + odd) >> 4 & mask
		uv, t = uv[2:], t[1:]
	}
	if len(uv) == 1 {
		uv[0] = (3*t[1] + t[0] + even) >> 4 & mask
	}
}

// colours holds tables that convert YCbCr to RGB as JFIF defines it, with libjpeg's rounding. With u = Cb-128 and v =
// Cr-128,
//
//	R = Y + round(1.402·v),  G = Y + (½ - 0.34414·u - 0.71414·v rounded down),  B = Y + round(1.772·u)
//
// One table entry packs the contributions of a chroma sample to R, G and B into three lanes: R from bit 0, G from bit
// 32 with 16 fractional bits below, B from bit 48. Each is raised by 256 so that no lane borrows from the next.
type colours struct {
	cb, cr [256]uint64
	clip   [1024]byte // index: a value raised by 256
}

var jfifColours = newColours()

func newColours() *colours {
	t := new(colours)
	fixed := func(c float64) int { return int(c*(1<<16) + 0.5) }
	const half = 1 << 15
	for i := range 256 {
		v := i - 128
		t.cb[i] = uint64(256<<16+half-fixed(0.34414)*v)<<16 + uint64(256+(fixed(1.772)*v+half)>>16)<<48
		t.cr[i] = uint64(256+(fixed(1.402)*v+half)>>16) - uint64(fixed(0.71414)*v)<<16
	}
	for i := range t.clip {
		t.clip[i] = clip8(int32(i) - 256)
	}
	return t
}

// toRGB converts a row of luma and packed chroma, both at full resolution, to RGB.
func toRGB(dst, luma []byte, uv []uint32) {
	const lanes, mask = 1<<48 | 1<<32 | 1, 1023
	uv = uv[:len(luma)]
	dst = dst[:3*len(luma)]
	t := jfifColours
	for i := toRGBVector(dst, luma, uv); i < len(luma); i++ {
		y, c := luma[i], uv[i]
		v := t.cb[uint8(c)] + t.cr[uint8(c>>16)] + uint64(y)*lanes
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = t.clip[v&mask], t.clip[v>>32&mask], t.clip[v>>48&mask]
	}
}

// clip8 returns v within 0 … 255.
func clip8(v int32) uint8 { return uint8(min(max(v, 0), 255)) }
