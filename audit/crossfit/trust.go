package crossfit

import (
	"context"
	"math/rand/v2"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/filters/leaveout"
)

const (
	believed = 0.5 // least probability at which a given label is learned
	sure     = 0.9 // least probability at which another class is learned instead
)

// trustLabels returns the label to learn for each row of z, whose rows have unit length: the given label, another
// label, or no label (-1). [judges.Fitted] scores the given labels, each without its own row. The most probable row of
// each class keeps its label, and so does the single row of a class. Fitted accounts for classes that are often
// confused; heads would learn these mistakes. trustLabels also returns the weighing of similarities to the class
// centres by the given labels.
func trustLabels(ctx context.Context, z features.Set, classes int, rng *rand.Rand) ([]int, weighing, error) {
	labels := append([]int(nil), z.Labels...)
	if !areLabelsComparable(labels, classes) {
		return labels, blind, nil
	}
	s, err := leaveout.New(z, classes)
	if err != nil {
		return nil, blind, err
	}
	rows, judged := s.Rows, s.Classes
	w, err := weighingOf(ctx, s)
	if err != nil {
		return nil, blind, err
	}
	v, err := judges.Ask(ctx, z, classes, judges.Fitted, judges.Options{Rand: rng})
	if err != nil {
		return nil, blind, err
	}
	best := make([]int, classes) // most probable row of each class
	most := make([]float64, classes)
	kept := make([]int, classes)
	for _, at := range rows {
		label, own := labels[at], v.Score[at]
		if own >= most[label] {
			best[label], most[label] = at, own
		}
		if own >= believed {
			kept[label]++
			continue
		}
		labels[at] = features.Unlabelled
		if k := v.Suggested[at]; k != label && v.SuggestedScore[at] >= sure {
			labels[at] = k
		}
	}
	for _, k := range judged {
		if kept[k] == 0 {
			labels[best[k]] = k
		}
	}
	return labels, w, nil
}

// blind is the prior weighing before any label is used.
var blind = weighing{[]float64{20}, 0.2}

// areLabelsComparable reports whether at least two classes have two rows or more. Otherwise labels cannot be scored.
func areLabelsComparable(labels []int, classes int) bool {
	count, several := make([]int, classes), 0
	for _, y := range labels {
		if count[y]++; count[y] == 2 {
			several++
		}
	}
	return several >= 2
}

// weighingOf fits a weighing to the labels of s and their similarities to the class centres, using about asked
// similarities.
func weighingOf(ctx context.Context, s *leaveout.Set) (weighing, error) {
	n, c := s.Z.Len(), len(s.Classes)
	step := max(1, n*c/asked)
	var rows []float32
	var labels []int
	err := s.Among(ctx, 0, n, step, func(_, y int, row []float64) {
		for _, v := range row {
			rows = append(rows, float32(v))
		}
		labels = append(labels, y)
	})
	if err != nil {
		return blind, err
	}
	return fitWeighing(ctx, rows, labels, c, blind, 5)
}
