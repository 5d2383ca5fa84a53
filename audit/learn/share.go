package learn

import "math"

// Interval is an estimate with its 95 % interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// Share estimates a share p from w of n observations, with Wilson's interval (Probable inference, the law of
// succession, and statistical inference, JASA 22, 1927). It uses counts only, no predictions.
//
//	(p̂ + z²/2n ± z·√(p̂(1-p̂)/n + z²/4n²)) / (1 + z²/n),  p̂ = w/n, z = 1.96
//
// If n is 0, the interval is 0 to 1 and the estimate 0.
func Share(w, n int) Interval {
	if n == 0 {
		return Interval{High: 1}
	}
	const z = 1.959963984540054
	p, m := float64(w)/float64(n), float64(n)
	middle := p + z*z/(2*m)
	wide := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Interval{p, max((middle-wide)/(1+z*z/m), 0), min((middle+wide)/(1+z*z/m), 1)}
}
