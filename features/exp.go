package features

import "math"

// ExpShifted returns e^x for one shifted exponent of a softmax, x ≤ 0. It uses ExpSlice's table and is equally
// accurate. Losses use it if they need the exponentials of selected pairs only. It takes less than half the time of
// [math.Exp] (BenchmarkExp).
func ExpShifted(x float64) float64 {
	if !(x >= -700) { // also true for NaN
		return math.Exp(x)
	}
	k := x*expSteps + expRound
	n := int64(math.Float64bits(k)) - expZero
	k -= expRound
	r := x - k*expHigh - k*expLow
	t := expTable[n&(1<<expBits-1)]
	e := t + t*(r+r*r*(0.5+r*(expThird+r*(1.0/24))))
	return math.Float64frombits(uint64(int64(math.Float64bits(e)) + n>>expBits<<52))
}
