package filters

import (
	"math"
	"slices"
)

// TwoMeans divides numbers into two groups with the least sum of squares within the groups. cut is the smallest number
// of the upper group; in a tie, the lowest cut is returned.
func TwoMeans(x []float64) (cut float64, ok bool) {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	if n < 2 || sorted[0] == sorted[n-1] {
		return 0, false
	}
	var total float64
	for _, v := range sorted {
		total += v
	}
	var sum float64
	best := math.Inf(-1)
	for i, v := range sorted[:n-1] {
		sum += v
		if v == sorted[i+1] {
			continue
		}
		a, b := float64(i+1), float64(n-i-1)
		gap := sum/a - (total-sum)/b
		if between := a * b * gap * gap; between > best { // n times the sum of squares between the groups
			best, cut = between, sorted[i+1]
		}
	}
	return cut, true
}
