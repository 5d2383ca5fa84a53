package features

import "math"

// expBits sets the size of the table: an octave has 2^expBits steps, and the table holds one power of two per step.
const expBits = 7

// expTable[j] is 2^(j/128).
var expTable = func() (t [1 << expBits]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / float64(len(t)))
	}
	return t
}()

const (
	expSteps = (1 << expBits) / math.Ln2        // table steps per unit of the exponent
	expHigh  = 0x1.62e42feep-1 / (1 << expBits) // ln 2 / 128 in 33 bits, so that k·expHigh is exact
	expLow   = 0x1.a39ef35793c76p-33 / (1 << expBits)
	expThird = 1.0/6 + 0.87*expReach*expReach/120
	expReach = math.Ln2 / (2 << expBits) // the largest |r|
	// Adding and subtracting expRound rounds to the nearest integer; in between, the low bits hold the integer.
	expRound = 0x1.8p52
	expZero  = 0x4338000000000000 // the bits of expRound
	expLimit = 1021 << expBits    // beyond 2^±1021 a result may be subnormal or infinite
)

// ExpSlice writes e^(scale·x_j + shift) to dst, which may be x, and returns the sum, added up in order. One call
// computes the exponentials of a softmax if shift is -scale·max, or any constant that keeps the exponents within ±700.
//
// For results between 2^±1021 the relative error is below 1e-15. Other results are those of [math.Exp]: 0, subnormal,
// infinite or NaN. ExpSlice is at least twice as fast as a loop over math.Exp (BenchmarkExpSlice).
//
// e^v = 2^(k/128)·e^r with k = ⌊128·v/ln 2⌉ and |r| ≤ ln 2/256. The fraction of k/128 is looked up in a table of 128
// powers; the integer part is added to the exponent's bits. e^r is a polynomial of degree 4: Taylor's, with r⁵/120
// replaced by the nearest multiple of r³, which changes the result by less than 2e-16.
func ExpSlice(dst, x []float64, scale, shift float64) (sum float64) {
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

// expNormal stops at the first result that may not be a normal number. It calls no function, so that all its values
// stay in registers.
func expNormal(dst, x []float64, scale, shift float64) (done int, sum float64) {
	dst = dst[:len(x)]
	for j, v := range x {
		v = scale*v + shift
		k := v*expSteps + expRound
		n := int64(math.Float64bits(k)) - expZero
		if uint64(n+expLimit) > 2*expLimit { // also true for NaN
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
