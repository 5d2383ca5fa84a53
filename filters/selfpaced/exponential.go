package selfpaced

import "math"

// exponential adds up e^{scale·s + shift} over many similarities s, which is where the time of ξ goes beside the
// products. In units of ln2/2^11 the argument is u = k + f, k whole and |f| ≤ 1/2, and
//
//	e^x = 2^{k/2^11} · e^{f·ln2/2^11}
//
// by a table of 2^{j/2^11} (16 KiB), the exponent's bits and a polynomial of degree 2: relative error below
// 2·10⁻¹², three times as fast as math.Exp. |x| ≤ 600 is [Config.Check]'s business.
type exponential struct{ scale, shift float64 }

const (
	tableBits  = 11
	tableSize  = 1 << tableBits
	unit       = math.Ln2 / tableSize
	halfSquare = unit * unit / 2
	magic      = 3 << 51 // u + magic has the whole part of u in its last bits
)

// powers is 2^{j/2^11}: the bits of each, from which j·2^{52-11} is taken away, so that adding k·2^{52-11} puts
// both the whole powers of 2 and the table's place right.
type powers [tableSize]uint64

func newPowers() *powers {
	var p powers
	for j := range p {
		p[j] = math.Float64bits(math.Exp2(float64(j)/tableSize)) - uint64(j)<<(52-tableBits)
	}
	return &p
}

// newExponential returns e^{slope·(s - base)}.
func newExponential(slope, base float64) exponential {
	return exponential{scale: slope / unit, shift: -slope * base / unit}
}

// spread adds the value at each of row to the sum returned and to the entry of sums below it.
func spread[T float32 | float64](e exponential, p *powers, sums []float64, row []T) float64 {
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
