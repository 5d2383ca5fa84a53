package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/run"
	"winnow/run/folder"
)

// openStores opens the stores of in, and checks their contents.
func openStores(ctx context.Context, in Input, o auditing) (stores []*features.Store, err error) {
	for dir := range strings.SplitSeq(in.Features, ",") {
		store, err := features.Open(dir)
		if err != nil {
			return nil, hint.With(err, "%s", features.Advice(err))
		}
		if err := store.Verify(ctx); err != nil {
			return nil, hint.With(err, "extract the features again")
		}
		if err := folder.NoteStale(ctx, store, o.Note); err != nil {
			return nil, err
		}
		if store, err = folder.LookAt(store, in.View, o.Note); err != nil {
			return nil, err
		}
		stores = append(stores, store)
	}
	return stores, nil
}

// countImageValues returns the number of values of an image in all stores together.
func countImageValues(stores []*features.Store) (n int) {
	for _, s := range stores {
		n += s.Dim
	}
	return n
}

// joinBackbones is [run.JoinTrain] for several backbones. An image's vectors are joined into one, each backbone scaled
// to the same mean length. parts are the numbers of values of the backbones.
func joinBackbones(ctx context.Context, d *datasets.Dataset, stores []*features.Store) (all run.Data, parts []int,
	free func() error, err error) {
	if len(stores) == 1 {
		all, free, err = run.JoinTrain(ctx, d, stores[0])
		return all, nil, free, err
	}
	var x blas32.General
	from, free := 0, func() error { return nil }
	for _, store := range stores {
		data, done, err := run.JoinTrain(ctx, d, store)
		if err != nil {
			return all, nil, free, errors.Join(err, done())
		}
		if x.Data == nil {
			all, x = data, features.NewMatrix(data.Train.Len(), countImageValues(stores))
		} else if !slices.Equal(all.Train.IDs, data.Train.IDs) {
			return all, nil, free, errors.Join(fmt.Errorf("audit: %s has %d of the judged images, %s has %d, expected "+
				"the same images of every backbone",
				store.Dir, data.Train.Len(), stores[0].Dir, all.Train.Len()), done())
		}
		var squares float64
		for i := range data.Train.Len() {
			for _, v := range data.Train.Row(i) {
				squares += float64(v) * float64(v)
			}
		}
		scale := float32(1 / math.Sqrt(max(squares/float64(max(data.Train.Len(), 1)), 1e-30)))
		for i := range data.Train.Len() {
			for j, v := range data.Train.Row(i) {
				features.Row(x, i)[from+j] = scale * v
			}
		}
		if err := done(); err != nil {
			return all, nil, free, err
		}
		from, parts = from+store.Dim, append(parts, store.Dim)
	}
	all.Train.X = x
	return all, parts, free, nil
}
