package jfif

import "image"

// DecodeScaled decodes a file to an [image.YCbCr] or an [image.Gray] of width/denominator × height/denominator,
// rounded up. The planes' memory may be larger than the image. It panics unless denominator is 1, 2, 4 or 8. No
// full-size image is made: a shorter transform turns the low frequencies of each block of 8×8 coefficients into 4×4,
// 2×2 or 1 samples. This is fast and a good antialiasing filter. All of the coded data is read, so a truncated file is
// an error here as well.
//
// The samples equal those of libjpeg's scale_denom and PIL's draft mode, to the bit. Chroma stored at half the
// resolution in both directions is reduced by half as much, so it gets the full resolution of the reduced image.
func DecodeScaled(data []byte, denominator int) (image.Image, error) {
	switch denominator {
	case 1, 2, 4, 8:
		return decodeScaled(data, 8/denominator)
	}
	panic("jfif: DecodeScaled: the denominator must be 1, 2, 4 or 8")
}

// sideOf returns how many samples across a block of c is decoded to. It starts with luma's number and doubles it as
// long as the plane is not larger than luma's.
func (d *decoder) sideOf(c *component) int {
	side := d.side
	for side < 8 && d.hmax*d.side%(2*side*int(c.h)) == 0 && d.vmax*d.side%(2*side*int(c.v)) == 0 {
		side *= 2
	}
	return side
}

// repeatChroma repeats the chroma of an image with one sample per block to full resolution. libjpeg does not
// interpolate chroma of this size either.
func (d *decoder) repeatChroma(m *image.YCbCr) {
	across, down := 1, 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
		return
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	cb, cr := make([]byte, w*h), make([]byte, w*h)
	for y := range h {
		from := y / down * m.CStride
		for x := range w {
			cb[y*w+x], cr[y*w+x] = m.Cb[from+x/across], m.Cr[from+x/across]
		}
	}
	m.Cb, m.Cr, m.CStride, m.SubsampleRatio = cb, cr, w, image.YCbCrSubsampleRatio444
}

// placeBlock writes a block's samples into its plane.
func (d *decoder) placeBlock(c *component, x, y int, coefs *[64]int16) {
	stride := c.side * c.stride
	dst, quant := c.plane[c.side*(y*stride+x):], &d.quant[c.quant]
	_ = dst[(c.side-1)*(stride+1)] // bounds check: the AVX2 code does not check its stores
	switch {
	case c.side == 8 && avx2:
		idctAVX2(&dst[0], stride, coefs, quant)
	case c.side == 8:
		invertDCT(dst, stride, coefs, quant)
	case c.side == 4 && avx2:
		idct4AVX2(&dst[0], stride, coefs, quant)
	case c.side == 4:
		idct4(dst, stride, coefs, quant)
	case c.side == 2:
		idct2(dst, stride, coefs, quant)
	default:
		dst[0] = clipSample((int32(coefs[0])*quant[0] + 4) >> 3)
	}
}

// Reduced transforms: each sample is the mean of 2×2 or 4×4 samples of the full transform (A.3.3). This takes few
// operations, because the mean of neighbouring samples of a cosine is again a cosine. Frequencies whose means vanish
// are left out. The constants are sums of c_k = √2·cos(k·π/16), times 2¹³; rounding is libjpeg's.
const (
	fourC1of1 = 20995 // 2.562915447 = c1 + c3
	fourC1of3 = 7373  // 0.899976223 = c3 - c7
	fourC1of5 = 4926  // 0.601344887 = c1 - c5
	fourC1of7 = 4176  // 0.509795579 = c5 - c7
	fourC3of1 = 8697  // 1.061594337 = c5 + c7
	fourC3of3 = 17799 // 2.172734803 = c1 + c5
	fourC3of5 = 11893 // 1.451774981 = c3 + c7
	fourC3of7 = 1730  // 0.211164243 = c1 - c3
	fourEven2 = 15137 // 1.847759065
	fourEven6 = 6270  // 0.765366865

	two1 = 29692 // 3.624509785 = c1 + c3 + c5 + c7
	two3 = 10426 // 1.272758580 = c1 - c3 + c5 + c7
	two5 = 6967  // 0.850430095 = c3 + c5 + c7 - c1
	two7 = 5906  // 0.720959822 = c1 - c3 + c5 - c7
)

// idct4 writes a block of 4×4 samples, each the mean of 2×2 samples of the full transform.
func idct4(dst []byte, stride int, coefs *[64]int16, quant *[64]int32) {
	var work [32]int32 // four rows of eight
	for x := range 8 {
		if x == 4 { // the mean of this frequency vanishes in four samples of a row
			continue
		}
		in := func(y int) int32 { return int32(coefs[8*y+x]) * quant[8*y+x] }
		if coefs[8+x]|coefs[16+x]|coefs[24+x]|coefs[40+x]|coefs[48+x]|coefs[56+x] == 0 {
			// in(0) << between, with the same overflow beyond 32 bits as in four
			v := (in(0)<<(fractional+1) + 1<<columnShift) >> (columnShift + 1)
			work[x], work[8+x], work[16+x], work[24+x] = v, v, v, v
			continue
		}
		work[x], work[8+x], work[16+x], work[24+x] = transformFour(
			in(0), in(1), in(2), in(3), in(5), in(6), in(7), columnShift+1)
	}
	for y := range 4 {
		w := (*[8]int32)(work[8*y:])
		x0, x1, x2, x3 := transformFour(w[0], w[1], w[2], w[3], w[5], w[6], w[7], rowShift+1)
		*(*[4]byte)(dst[y*stride:]) = [4]byte{clipSample(x0), clipSample(x1), clipSample(x2), clipSample(x3)}
	}
}

// transformFour transforms eight numbers (the fifth is not needed) to four, shifted right with rounding.
func transformFour(x0, x1, x2, x3, x5, x6, x7 int32, shift int) (y0, y1, y2, y3 int32) {
	t0, t2 := x0<<(fractional+1)+1<<(shift-1), x2*fourEven2-x6*fourEven6
	o0 := x1*fourC1of1 + x3*fourC1of3 - x5*fourC1of5 - x7*fourC1of7
	o1 := x1*fourC3of1 - x3*fourC3of3 + x5*fourC3of5 - x7*fourC3of7
	return (t0 + t2 + o0) >> shift, (t0 - t2 + o1) >> shift, (t0 - t2 - o1) >> shift, (t0 + t2 - o0) >> shift
}

// idct2 writes a block of 2×2 samples. It uses only the mean and the odd frequencies.
func idct2(dst []byte, stride int, coefs *[64]int16, quant *[64]int32) {
	var work [2][8]int32
	for _, x := range [5]int{0, 1, 3, 5, 7} {
		in := func(y int) int32 { return int32(coefs[8*y+x]) * quant[8*y+x] }
		if coefs[8+x]|coefs[24+x]|coefs[40+x]|coefs[56+x] == 0 {
			work[0][x], work[1][x] = in(0)<<between, in(0)<<between
			continue
		}
		work[0][x], work[1][x] = transformTwo(in(0), in(1), in(3), in(5), in(7), columnShift+2)
	}
	for y := range work {
		w := &work[y]
		x0, x1 := transformTwo(w[0], w[1], w[3], w[5], w[7], rowShift+2)
		dst[y*stride], dst[y*stride+1] = clipSample(x0), clipSample(x1)
	}
}

// transformTwo transforms the mean and the odd frequencies to two numbers, shifted right with rounding.
func transformTwo(x0, x1, x3, x5, x7 int32, shift int) (y0, y1 int32) {
	t, o := x0<<(fractional+2)+1<<(shift-1), x1*two1-x3*two3+x5*two5-x7*two7
	return (t + o) >> shift, (t - o) >> shift
}
