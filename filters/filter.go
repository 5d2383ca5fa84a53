// Package filters says which given labels look right. A score is P_clean in [0, 1] or a similarity: larger
// is cleaner. It imports only features; the truth about a label cannot reach it.
package filters

import "winnow/features"

// Scorer judges the given labels of z against ref, the vectors seen before. If own is true every row of z
// is also a member of ref (same vector, same label) and is left out of its own judgement; that is how an
// audit scores a whole training set against itself. dst is reused if it has room; the scores are returned.
type Scorer interface {
	Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// Cutoff decides which of a batch's scores are kept; it returns positions in rising order, and may carry
// a window over past batches.
type Cutoff interface {
	Keep(scores []float64) []int
}
