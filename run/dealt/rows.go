// Package dealt judges the stored features of a manifest's images on several machines although the judgement needs
// all of them: one machine sums up all rows and fits to the sums and to a sample; then rows are judged block by
// block, on one machine or several.
//
// The borders of blocks depend on the whole set alone, so that a row is computed in the same block on any machine. The
// package knows no judge, and imports cluster, datasets, features, filters/leaveout, internal/hint,
// internal/lookup, run/folder and train.
package dealt

import (
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Rows are the readable training images of a manifest, in its order, with their stored features.
type Rows struct {
	Blocks
	Manifest *datasets.Dataset
	Store    *features.Store // nil: the vectors are in memory
	Labels   []int           // classes of the manifest, or [features.Unlabelled]
	IDs      []int           // positions in the manifest
	LeftOut  []lookup.LeftOut
}

// Open finds the training images of d in a view of a store. It does not read the features.
func Open(ctx context.Context, d *datasets.Dataset, dir, view string, note func(format string, args ...any)) (
	*Rows, error) {
	store, err := features.Open(dir)
	if err != nil {
		return nil, hint.With(err, "%s", features.Advice(err))
	}
	if err := folder.NoteStale(ctx, store, note); err != nil {
		return nil, err
	}
	if store, err = folder.LookAt(store, view, note); err != nil {
		return nil, err
	}
	r := &Rows{Manifest: d, Store: store}
	stored, left, err := lookup.Stored(d, store, datasets.Train)
	if err != nil {
		return nil, err
	}
	r.Labels, r.IDs, r.LeftOut = stored.Labels, stored.IDs, left
	for i, y := range r.Labels {
		if y == datasets.Unlabelled {
			r.Labels[i] = features.Unlabelled
		}
	}
	r.Blocks = Blocks{Source: stored, Classes: len(d.Classes), Bad: func(row int) error {
		return hint.With(fmt.Errorf("features %s: the vector of %s is not finite", store.Dir,
			d.Samples[r.IDs[row]].Path), "extract the features again")
	}}
	return r, nil
}
