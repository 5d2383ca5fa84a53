package selfpaced

import "math"

// exponential adds up e^{scale·s + shift} over many similarities s, which, apart from the products, takes most of the
// time of ξ. In units of ln2/2^11 the argument is u = k + f with an integer k and |f| ≤ 1/2, and
//
//	e^x = 2^{k/2^11} · e^{f·ln2/2^11}
//
// is computed with a table of 2^{j/2^11} (16 KiB), the bits of the exponent and a polynomial of degree 2. The relative
// error is below 2·10⁻¹², and it is three times as fast as math.Exp. [Config.Check] ensures |x| ≤ 600.
type exponential struct{ scale, shift float64 }

const (
	tableBits  = 11
	tableSize  = 1 << tableBits
	unit       = math.Ln2 / tableSize
	halfSquare = unit * unit / 2
	magic      = 3 << 51 // the low bits of u + magic are the integer nearest to u
)

// powers holds the bits of 2^{j/2^11}, minus j·2^{52-11}, so that adding k·2^{52-11} corrects both the integer powers
// of 2 and the offset of the table entry.
type powers [tableSize]uint64

func newPowers() *powers {
	var p powers
	for j := range p {
		p[j] = math.Float64bits(math.Exp2(float64(j)/tableSize)) - uint64(j)<<(52-tableBits)
	}
	return &p
}

// newExponential returns the function e^{slope·(s - base)}.
func newExponential(slope, base float64) exponential {
	return exponential{scale: slope / unit, shift: -slope * base / unit}
}

// addExponentials adds the exponential of each entry of row to the corresponding entry of sums, and returns the total.
func addExponentials[T float32 | float64](e exponential, p *powers, sums []float64, row []T) float64 {
	total := 0.0
	sums = sums[:len(row)]
	for j, s := range row {
		u := float64(s)*e.scale + e.shift
		t := u + magic
		k := math.Float64bits(t)
		f := u - (t - magic)
		v := math.Float64frombits(p[k%tableSize]+k<<(52-tableBits)) * (1 + f*unit + f*f*halfSquare)
		total += v
		sums[j] += v
	}
	return total
}
