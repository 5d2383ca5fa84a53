package losses

// pairSum is a simLoss whose value sums over all pairs of an anchor, so that it grows with the number of vectors
// that the batch is compared with.
type pairSum interface {
	simLoss
	// pairs returns the number that divides the value of some rows, each with so many pairs, to a mean over pairs.
	pairCount(rows, each int) float64
}

// Pairs returns the number by which the value of a loss over rows, each compared with others vectors, is divided to be
// a mean over pairs. It is 1 for losses that do not sum over pairs, which most losses do not. The quotient can be
// compared between steps while the memory bank fills.
func Pairs(l Loss, rows, others int) float64 {
	s, ok := l.(*similarity)
	if !ok || rows == 0 || others == 0 {
		return 1
	}
	if fn, ok := s.fn.(pairSum); ok {
		return fn.pairCount(rows, others)
	}
	return 1
}

// pairCount implements [pairSum]: the value is a mean over anchors, or, if summed, a sum over them.
func (l *contrastive) pairCount(rows, each int) float64 {
	if l.summed {
		return float64(rows) * float64(each)
	}
	return float64(each)
}
