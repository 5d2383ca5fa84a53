package losses

// pairSum is a simLoss whose value is a sum over all pairs of an anchor. It grows with the number of vectors that the
// batch is compared with.
type pairSum interface {
	simLoss
	// pairCount returns the divisor that turns the loss of rows, each in the given number of pairs, into a mean.
	pairCount(rows, each int) float64
}

// Pairs returns the divisor that turns the value of a loss over rows, each compared with others vectors, into a mean
// over pairs. It is 1 for most losses, because they do not sum over pairs. The quotient can be compared between steps
// while the memory bank fills up.
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

// pairCount implements [pairSum]. The value is a mean over anchors or, if summed is set, a sum over anchors.
func (l *contrastive) pairCount(rows, each int) float64 {
	if l.summed {
		return float64(rows) * float64(each)
	}
	return float64(each)
}
