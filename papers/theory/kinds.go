package theory

// The pairs of embeddings whose true labels are known are measured on a run's head or on stored features, in the
// batches that a training would draw.
//
// A pair of images is positive if its given labels are the same, negative otherwise; it is true if the true labels
// agree. Cosines are of unit rows, in float32; counts and sums are exact or float64.
//
// With n_s pairs of the same given label and t_s of the same true one, FP - FN = n_s - t_s: if as many images are
// mislabelled into a class as out of it, there are as many false negatives as false positives. Only the rates differ:
// FP is a share of the few positives, FN one of the many negatives (004 section 4).

// Kind is the kind of a pair.
type Kind int

// The kinds of pairs.
const (
	TruePositive Kind = iota
	FalsePositive
	TrueNegative
	FalseNegative
	kinds
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{TruePositive, FalsePositive, TrueNegative, FalseNegative} }

// String returns the kind in words.
func (k Kind) String() string {
	return [kinds]string{"true positives", "false positives", "true negatives", "false negatives"}[k]
}

// Labels are the two labels of rows, all ≥ 0, with the same numbers of classes.
type Labels struct{ Given, True []int }

// computeWrongShare returns the share of rows whose given label is not the true one.
func (l Labels) computeWrongShare() float64 {
	wrong := 0
	for i, given := range l.Given {
		if given != l.True[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(max(len(l.Given), 1))
}

// Rows returns the labels of some rows.
func (l Labels) Rows(rows []int) Labels {
	var out Labels
	for _, i := range rows {
		out.Given, out.True = append(out.Given, l.Given[i]), append(out.True, l.True[i])
	}
	return out
}

// Kind returns the kind of the pair of rows i and j.
func (l Labels) Kind(i, j int) Kind {
	same := l.True[i] == l.True[j]
	switch {
	case l.Given[i] == l.Given[j] && same:
		return TruePositive
	case l.Given[i] == l.Given[j]:
		return FalsePositive
	case same:
		return FalseNegative
	}
	return TrueNegative
}
