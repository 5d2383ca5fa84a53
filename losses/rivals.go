package losses

import "math"

// prepareRivals prepares the row of anchor i for losses of exponentials. dst gets the similarities of N(i) and -Inf
// everywhere else, so that exp needs no test of labels. top is their maximum, or -Inf if N(i) is empty. P(i) is
// appended to positives.
func (p *pairs) prepareRivals(dst []float64, positives []int32, s []float64, i int) (_ []int32, top float64) {
	top = math.Inf(-1)
	y, cols := p.rows[i], p.cols[:len(s)]
	dst = dst[:len(s)]
	for j, v := range s {
		if cols[j] != y {
			dst[j] = v
			if v > top {
				top = v
			}
			continue
		}
		dst[j] = math.Inf(-1)
		if p.areApart(i, j) {
			positives = append(positives, int32(j))
		}
	}
	return positives, top
}
