package jfif

// The inverse cosine transform of 8×8 coefficients (A.3.3) uses the factorisation of Loeffler, Ligtenberg and Moschytz
// with libjpeg's ("islow") integers: constants have 13 fractional bits, results of the columns have 2, and sums are
// rounded half up when bits are dropped. The order of operations is libjpeg's, because another order gives other bits.
//
// Source: Loeffler, Ligtenberg, Moschytz, Practical fast 1-D DCT algorithms with 11 multiplications, ICASSP 1989,
// figure 1.
const (
	fractional = 13
	between    = 2

	// Cosines and sums of cosines, times 2¹³: c_k = √2·cos(k·π/16).
	c6          = 4433  // 0.541196100
	c2MinusC6   = 6270  // 0.765366865
	c2PlusC6    = 15137 // 1.847759065
	c3          = 9633  // 1.175875602
	c3MinusC7   = 7373  // 0.899976223, c7 with its sign
	c3PlusC1    = 20995 // 2.562915447
	c5PlusC3    = 16069 // 1.961570560
	c3MinusC5   = 3196  // 0.390180644
	sumOf7      = 2446  // 0.298631336
	sumOf5      = 16819 // 2.053119869
	sumOf3      = 25172 // 3.072711026
	sumOf1      = 12299 // 1.501321110
	columnShift = fractional - between
	rowShift    = fractional + between + 3
)

// invertDCT writes the samples of a block, plus 128 and clipped to 0 … 255, into eight rows of dst.
func invertDCT(dst []byte, stride int, coefs *[64]int16, quant *[64]int32) {
	var work [64]int32
	for x := range 8 {
		in := func(y int) int32 { return int32(coefs[8*y+x]) * quant[8*y+x] }
		if coefs[8+x]|coefs[16+x]|coefs[24+x]|coefs[32+x]|coefs[40+x]|coefs[48+x]|coefs[56+x] == 0 {
			// the result is in(0) << between, but this overflows 32 bits in the same way as function eight
			v := (in(0)<<fractional + 1<<(columnShift-1)) >> columnShift
			for y := range 8 {
				work[8*y+x] = v
			}
			continue
		}
		y0, y1, y2, y3, y4, y5, y6, y7 := transformEight(
			in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7), 1<<(columnShift-1))
		work[x], work[8+x] = y0>>columnShift, y1>>columnShift
		work[16+x], work[24+x] = y2>>columnShift, y3>>columnShift
		work[32+x], work[40+x] = y4>>columnShift, y5>>columnShift
		work[48+x], work[56+x] = y6>>columnShift, y7>>columnShift
	}
	for y := range 8 {
		w := (*[8]int32)(work[8*y:])
		out := (*[8]byte)(dst[y*stride:])
		if w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7] == 0 {
			v := clipSample((w[0]<<fractional + 1<<(rowShift-1)) >> rowShift)
			*out = [8]byte{v, v, v, v, v, v, v, v}
			continue
		}
		x0, x1, x2, x3, x4, x5, x6, x7 := transformEight(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7],
			1<<(rowShift-1))
		out[0], out[1] = clipSample(x0>>rowShift), clipSample(x1>>rowShift)
		out[2], out[3] = clipSample(x2>>rowShift), clipSample(x3>>rowShift)
		out[4], out[5] = clipSample(x4>>rowShift), clipSample(x5>>rowShift)
		out[6], out[7] = clipSample(x6>>rowShift), clipSample(x7>>rowShift)
	}
}

// transformEight transforms eight numbers; the results are scaled by 2¹³. half is added for the rounding of the caller.
func transformEight(x0, x1, x2, x3, x4, x5, x6, x7, half int32) (y0, y1, y2, y3, y4, y5, y6, y7 int32) {
	z := (x2 + x6) * c6
	t2, t3 := z-x6*c2PlusC6, z+x2*c2MinusC6
	t0, t1 := (x0+x4)<<fractional+half, (x0-x4)<<fractional+half
	e0, e1, e2, e3 := t0+t3, t1+t2, t1-t2, t0-t3

	z5 := (x7 + x3 + x5 + x1) * c3
	z1, z2 := (x7+x1)*c3MinusC7, (x5+x3)*c3PlusC1
	z3, z4 := z5-(x7+x3)*c5PlusC3, z5-(x5+x1)*c3MinusC5
	o0, o1, o2, o3 := x1*sumOf1-z1+z4, x3*sumOf3-z2+z3, x5*sumOf5-z2+z4, x7*sumOf7-z1+z3
	return e0 + o0, e1 + o1, e2 + o2, e3 + o3, e3 - o3, e2 - o2, e1 - o1, e0 - o0
}

// clipSample returns v + 128, clipped to a byte.
func clipSample(v int32) byte {
	if v += 128; uint32(v) > 255 {
		v = ^(v >> 31) & 255
	}
	return byte(v)
}
