package theory

// This file classifies pairs of images whose true labels are known. They are measured with a run's head or on stored
// features, in the batches that a training would draw.
//
// A pair is positive if its given labels are the same, otherwise negative. It is true if its true labels have the same
// relation, otherwise false. Cosines of unit rows are float32; counts are exact and sums are float64.
//
// With n_s pairs of the same given label and t_s pairs of the same true label, FP - FN = n_s - t_s. If equally many
// images are mislabelled into each class as out of it, FP = FN. Only the rates differ, because P_FP is a share of the
// few positives and P_FN a share of the many negatives (004 section 4).

// Kind is the kind of a pair: true or false, positive or negative.
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

// Labels holds the given and the true labels of rows. All labels are ≥ 0, and both use the same class numbers.
type Labels struct{ Given, True []int }

// computeWrongShare returns the share of rows whose given label differs from the true label.
func (l Labels) computeWrongShare() float64 {
	wrong := 0
	for i, given := range l.Given {
		if given != l.True[i] {
			wrong++
		}
	}
	return float64(wrong) / float64(max(len(l.Given), 1))
}

// Rows returns the labels of the listed rows.
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
