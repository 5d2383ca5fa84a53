package audit

import (
	"context"

	"winnow/features"
	"winnow/head"
)

// judgedVectors returns the labelled rows of set with unit length. If whiten is set, the head known whitens them; if it
// is nil, a head computed from all rows. by is this head. free is never nil and releases the vectors.
func judgedVectors(ctx context.Context, set features.Source, whiten bool,
	known *head.Head) (z features.Set, by *head.Head, free func() error, err error) {
	free = func() error { return nil }
	if !whiten {
		z, err = onSphere(set.(features.Set).Labelled())
		return z, nil, free, err
	}
	if by = known; by == nil {
		if by, err = head.SelfWhitening(ctx, set, head.Widest); err != nil {
			return z, nil, free, err
		}
	}
	whole, let, err := by.EmbedSpilled(ctx, set)
	if err != nil {
		return z, nil, free, err
	}
	z, err = onSphere(whole.Labelled())
	return z, by, let, err
}

// relabelled is a source with replaced labels.
type relabelled struct {
	features.Source
	labels []int
}

// Bare returns the labels and ids without the vectors.
func (r relabelled) Bare() features.Set {
	set := r.Source.Bare()
	set.Labels = r.labels
	return set
}

// onSphere returns the vectors scaled to unit length, in a copy unless they already are.
func onSphere(z features.Set) (features.Set, error) {
	if z.X.Stride == z.X.Cols && features.UnitRows(z.X) {
		return z, nil
	}
	all := make([]int, z.Len())
	for i := range all {
		all[i] = i
	}
	z = z.Rows(all)
	return z, features.Normalize(z.X)
}

// listLabelled returns the positions of the rows that have a label.
func listLabelled(labels []int) []int {
	var rows []int
	for i, y := range labels {
		if y != features.Unlabelled {
			rows = append(rows, i)
		}
	}
	return rows
}
