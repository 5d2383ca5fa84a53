package backbone

import "image"

// planes is a JPEG's luma and chroma. Chroma is stored at half the resolution in most photographs; libjpeg
// interpolates it with a triangle filter ("fancy upsampling"), the standard library repeats samples, which
// is off by up to 62 of 255. Here it is done as libjpeg does, so that pixels are those PIL shows:
//
//	horizontally   even x: (3·c + left + 1)/4,   odd x: (3·c + right + 2)/4
//	both ways      t = 3·near + far row, then    even x: (3·t + left + 8)/16,  odd x: (3·t + right + 7)/16
//	vertically     (3·near + far + 1)/4 on even rows, + 2 on odd ones
//
// Beyond the edge the edge sample is repeated. Ratios 4:1:1 and 4:1:0 are repeated, as libjpeg does too.
// Source: Independent JPEG Group, libjpeg's documentation of jdsample.c; compared with PIL in the tests.
type planes struct {
	img    *image.YCbCr
	w, h   int
	cw, ch int // size of a chroma plane, rounded up
	cb, cr []byte
	sum    []int32 // t of the columns needed, with one more on each side
}

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

func (p *planes) size() (int, int) { return p.w, p.h }

func (p *planes) row(dst []byte, y, x0, x1 int) {
	n := x1 - x0
	if cap(p.cb) < n {
		p.cb, p.cr, p.sum = make([]byte, p.w), make([]byte, p.w), make([]int32, p.cw+2)
	}
	cb, cr := p.cb[:n], p.cr[:n]
	stride := p.img.CStride
	near, far := p.rows(y)
	switch r := p.img.SubsampleRatio; {
	case r == image.YCbCrSubsampleRatio444:
		cb, cr = p.img.Cb[y*stride+x0:][:n], p.img.Cr[y*stride+x0:][:n]
	case r == image.YCbCrSubsampleRatio440:
		bias := int32(1 + y&1)
		mix(cb, p.img.Cb[near*stride+x0:], p.img.Cb[far*stride+x0:], bias)
		mix(cr, p.img.Cr[near*stride+x0:], p.img.Cr[far*stride+x0:], bias)
	case r == image.YCbCrSubsampleRatio420 && p.cw > 2:
		p.triangle(cb, p.img.Cb[near*stride:], p.img.Cb[far*stride:], x0, 8, 7)
		p.triangle(cr, p.img.Cr[near*stride:], p.img.Cr[far*stride:], x0, 8, 7)
	case r == image.YCbCrSubsampleRatio422 && p.cw > 2: // near = far = y: t is 4·c, and the biases 1/4 and 2/4
		p.triangle(cb, p.img.Cb[y*stride:], p.img.Cb[y*stride:], x0, 4, 8)
		p.triangle(cr, p.img.Cr[y*stride:], p.img.Cr[y*stride:], x0, 4, 8)
	default:
		step := 2
		if p.cw*2 < p.w {
			step = 4
		}
		if p.ch == p.h {
			near = y
		}
		for i := range cb {
			at := near*stride + (x0+i)/step
			cb[i], cr[i] = p.img.Cb[at], p.img.Cr[at]
		}
	}
	toRGB(dst, p.img.Y[y*p.img.YStride+x0:][:n], cb, cr)
}

// rows are the chroma row that covers row y of a picture with half as many, and its next nearest.
func (p *planes) rows(y int) (near, far int) {
	near = y / 2
	if y&1 == 0 {
		return near, max(near-1, 0)
	}
	return near, min(near+1, p.ch-1)
}

// mix is the vertical filter alone.
func mix(dst, near, far []byte, bias int32) {
	near, far = near[:len(dst)], far[:len(dst)]
	for i := range dst {
		dst[i] = uint8((3*int32(near[i]) + int32(far[i]) + bias) >> 2)
	}
}

// triangle doubles the columns of 3·near + far; dst begins at column x0 of the picture.
func (p *planes) triangle(dst, near, far []byte, x0 int, even, odd int32) {
	first, last := x0/2, (x0+len(dst)-1)/2
	t := p.sum[:last-first+3] // t[i] is column first-1+i
	n, f := near[first:last+1], far[first:last+1]
	f = f[:len(n)]
	inner := t[1:][:len(n)]
	for i, v := range n {
		inner[i] = 3*int32(v) + int32(f[i])
	}
	left, right := max(first-1, 0), min(last+1, p.cw-1)
	t[0] = 3*int32(near[left]) + int32(far[left])
	t[len(t)-1] = 3*int32(near[right]) + int32(far[right])
	i := 0
	if x0&1 == 1 {
		dst[0] = uint8((3*t[1] + t[2] + odd) >> 4)
		i, t = 1, t[1:]
	}
	for ; i+1 < len(dst); i += 2 {
		c := 3 * t[1]
		dst[i] = uint8((c + t[0] + even) >> 4)
		dst[i+1] = uint8((c + t[2] + odd) >> 4)
		t = t[1:]
	}
	if i < len(dst) {
		dst[i] = uint8((3*t[1] + t[0] + even) >> 4)
	}
}

// Colours of chroma, JFIF: R = Y + 1.402·Cr, G = Y - 0.34414·Cb - 0.71414·Cr, B = Y + 1.772·Cb with chroma
// from -128; 16 fractional bits, each product rounded as libjpeg rounds it.
const (
	crToR = 91881  // 1.40200·2¹⁶
	cbToG = 22554  // 0.34414·2¹⁶
	crToG = 46802  // 0.71414·2¹⁶
	cbToB = 116130 // 1.77200·2¹⁶
	halfC = 1 << 15
)

// toRGB turns luma and full-resolution chroma into RGB.
func toRGB(dst, luma, cb, cr []byte) {
	cb, cr = cb[:len(luma)], cr[:len(luma)]
	dst = dst[:3*len(luma)]
	for i, v := range luma {
		y := int32(v)
		u, w := int32(cb[i])-128, int32(cr[i])-128
		r := y + (crToR*w+halfC)>>16
		g := y + (halfC-cbToG*u-crToG*w)>>16
		b := y + (cbToB*u+halfC)>>16
		d := dst[3*i : 3*i+3 : 3*i+3]
		d[0], d[1], d[2] = clip8(r), clip8(g), clip8(b)
	}
}

// clip8 is v within 0 … 255.
func clip8(v int32) uint8 {
	if uint32(v) > 255 {
		if v < 0 {
			return 0
		}
		return 255
	}
	return uint8(v)
}
