package main

import "math"

// cosine returns the cosine of two vectors, and the length of their difference divided by the length of the first.
func cosine(a, b []float32) (cos, relative float64) {
	var aa, bb, ab, dd float64
	for i, v := range a {
		x, y := float64(v), float64(b[i])
		aa, bb, ab, dd = aa+x*x, bb+y*y, ab+x*y, dd+(x-y)*(x-y)
	}
	return ab / math.Sqrt(aa*bb), math.Sqrt(dd / aa)
}
