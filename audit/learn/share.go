package learn

import "winnow/eval"

// Interval is an estimate with its 95 % interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// Share is [eval.Share]: it uses counts only, no predictions. If n is 0, the interval is 0 to 1 and the estimate 0.
func Share(w, n int) Interval {
	if n == 0 {
		return Interval{High: 1}
	}
	share := eval.Share(w, n)
	return Interval{share.Mean, share.Low, share.High}
}
