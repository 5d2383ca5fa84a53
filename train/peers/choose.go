package peers

import (
	"cmp"
	"math"
	"slices"
)

// forgetPlan gives the fraction of a batch that is left out in each epoch. The fraction grows during training, because
// networks fit the correct labels first and the wrong labels later.
//
//	R(e) = e/(T_k - 1) · R^c  for e = 0 … T_k - 1,   R(e) = R  from T_k on
//
// With c ≠ 1 the ramp ends at R^c and then jumps to R, as in the released code. T_k = 1 leaves nothing out in epoch 0.
// Source: Han et al., Co-teaching, NeurIPS 2018, section 3 (R(T)); main.py of its code for c. METHODS 12.1.
type forgetPlan struct {
	Rate     float64 // R
	Exponent float64 // c
	Gradual  int     // T_k, epochs
}

// forgetRate returns R(e), e counted from 0.
func (p forgetPlan) forgetRate(epoch int) float64 {
	if epoch >= p.Gradual {
		return p.Rate
	}
	if epoch == 0 {
		return 0
	}
	top := math.Pow(p.Rate, p.Exponent)
	return float64(epoch) * (top / float64(p.Gradual-1))
}

// smallLoss appends to dst the k rows with the smallest losses among the listed rows (nil: all), by rising loss,
// and returns dst:
//
//	k = ⌊(1 - rate)·rows⌋, or all rows if that is 0
//
// Of rows with equal losses, smallLoss chooses the row listed first. It treats NaN as the smallest loss, so that a NaN
// is never left out.
// Source: Han et al., NeurIPS 2018, algorithm 1, lines 4-5; k by its code. METHODS 12.1.
func smallLoss(dst []int, losses []float64, among []int, rate float64) []int {
	start := len(dst)
	if among != nil {
		dst = append(dst, among...)
	} else {
		for i := range losses {
			dst = append(dst, i)
		}
	}
	rows := dst[start:]
	k := cmp.Or(int(float64(1-rate)*float64(len(rows))), len(rows))
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(losses[a], losses[b]) })
	slices.Sort(rows[:k])
	return dst[:start+k]
}

// disagreeingRows appends to dst the rows for which two classifiers predict different classes. A prediction is the
// class with the largest logit (ties: the first).
// Source: Yu et al., How does Disagreement Help Generalization against Label Corruption?, ICML 2019, equation 1.
func disagreeingRows[T number](dst []int, a, b Matrix[T]) []int {
	for i := range a.Rows {
		if argmax(a.matrixRow(i)) != argmax(b.matrixRow(i)) {
			dst = append(dst, i)
		}
	}
	return dst
}

// argmax returns the position of the largest value (ties: the first).
func argmax[T number](row []T) int {
	best := 0
	for c, v := range row {
		if v > row[best] {
			best = c
		}
	}
	return best
}
