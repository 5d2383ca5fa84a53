package features

import "math"

// Element types of a store. float16 halves the disk space; vectors in memory are always float32.
const (
	Float32 = "float32"
	Float16 = "float16"
)

// maxHalf is the largest float16.
const maxHalf = 65504

// widenHalf returns the value of an IEEE 754 binary16 number.
func widenHalf(b uint16) float32 {
	sign := uint32(b>>15) << 31
	exp, frac := uint32(b>>10&31), uint32(b&1023)
	switch exp {
	case 0: // zero and subnormal: frac·2⁻²⁴
		v := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toHalf returns the nearest binary16 number, rounding halves to even as IEEE 754 and numpy do. Values that are closer
// to 2¹⁶ than to the largest binary16 become infinite; NaN stays NaN.
func toHalf(v float32) uint16 {
	b := math.Float32bits(v)
	sign, b := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case b > 255<<23:
		return sign | 0x7e00
	case b >= 143<<23: // 2¹⁶
		return sign | 0x7c00
	case b < 113<<23: // below 2⁻¹⁴: a multiple of 2⁻²⁴, given by the last bits of 0.5 + |v|
		return sign | uint16(math.Float32bits(0.5+math.Float32frombits(b))-126<<23)
	}
	b += 1<<12 - 1 + b>>13&1 // a carry into the exponent is correct, up to infinity
	return sign | uint16((b-112<<23)>>13)
}
