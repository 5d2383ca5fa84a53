package losses

import "math"

// expBits divides an octave into 2^expBits steps: the table has one power of two for each.
const expBits = 7

// expTable[j] is 2^(j/128).
var expTable = func() (t [1 << expBits]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / float64(len(t)))
	}
	return t
}()

const (
	expSteps = (1 << expBits) / math.Ln2        // steps of the table per unit of the exponent
	expHigh  = 0x1.62e42feep-1 / (1 << expBits) // ln 2 / 128 in 33 bits, so that k·expHigh is exact
	expLow   = 0x1.a39ef35793c76p-33 / (1 << expBits)
	expThird = 1.0/6 + 0.87*expReach*expReach/120
	expReach = math.Ln2 / (2 << expBits) // the largest |r|
	// added and taken off again: the nearest integer, which is in the low bits between
	expRound = 0x1.8p52
	expZero  = 0x4338000000000000 // the bits of expRound
	expLimit = 1021 << expBits    // beyond 2^±1021 a result may be not normal, or infinite
)

// expSlice writes e^(scale·x_j + shift) to dst, which may be x, and returns the sum, added up in order. One call
// makes a softmax: shift is -scale·max, or any constant that keeps the exponents within ±700.
//
// Where the result is between 2^±1021 it is off by less than 1e-15 of itself; beyond it is [math.Exp]'s: 0,
// subnormal, infinite or NaN. Twice as fast as a loop over math.Exp, or better (BenchmarkExpSlice).
//
// e^v = 2^(k/128)·e^r with k = ⌊128·v/ln 2⌉ and |r| ≤ ln 2/256: a table of the 128 powers for the fraction of
// k/128, its integer part added to the exponent's bits, and a polynomial of degree 4: Taylor's, with r⁵/120
// replaced by the multiple of r³ that is nearest to it, wrong by less than 2e-16.
func expSlice(dst, x []float64, scale, shift float64) (sum float64) {
	dst = dst[:len(x)]
	for j := 0; ; j++ {
		done, more := expNormal(dst[j:], x[j:], scale, shift)
		sum += more
		if j += done; j == len(x) {
			return sum
		}
		dst[j] = math.Exp(scale*x[j] + shift)
		sum += dst[j]
	}
}

// expNormal stops where a result could be other than a normal number. It calls nothing, so that all it works
// with stays in registers.
func expNormal(dst, x []float64, scale, shift float64) (done int, sum float64) {
	dst = dst[:len(x)]
	for j, v := range x {
		v = scale*v + shift
		k := v*expSteps + expRound
		n := int64(math.Float64bits(k)) - expZero
		if uint64(n+expLimit) > 2*expLimit { // NaN too
			return j, sum
		}
		k -= expRound
		r := v - k*expHigh - k*expLow
		t := expTable[n&(1<<expBits-1)]
		e := t + t*(r+r*r*(0.5+r*(expThird+r*(1.0/24))))
		e = math.Float64frombits(uint64(int64(math.Float64bits(e)) + n>>expBits<<52))
		dst[j] = e
		sum += e
	}
	return len(x), sum
}
