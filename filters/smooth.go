package filters

// Smooth returns the exponential moving average with which the PRISM paper plots the share of right labels among the
// kept rows: e_0 = x_0, e_t = weight·e_{t-1} + (1-weight)·x_t. Source: PRISM, Fig. 2 (weight 0.7).
func Smooth(weight float64, x []float64) []float64 {
	out := make([]float64, len(x))
	for t := range x {
		if t == 0 {
			out[0] = x[0]
			continue
		}
		out[t] = weight*out[t-1] + (1-weight)*x[t]
	}
	return out
}
