package inspect

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// ofStored judges the training labels of a manifest by the stored features of its images, whitened, or by given
// probabilities.
func ofStored(ctx context.Context, in Input, o auditing) (*Report, error) {
	read := datasets.ReadOptions{Numbered: in.Probs != "", Names: in.Columns, Note: o.Note}
	if o.FitSample > 0 {
		read.Once = ctx
	}
	whole, err := datasets.Read(in.Manifest, read)
	if err != nil {
		return nil, err
	}
	if err := o.name(in, whole); err != nil {
		return nil, err
	}
	d, room := o.asJudged(whole), cmp.Or(o.MaxMem, eval.DefaultMaxMem)
	if o.FitSample > 0 {
		return bySample(ctx, in, whole, d, o)
	}
	if in.Features == "" {
		return byProbabilities(ctx, in, whole, d, nil, room, o)
	}
	stores, err := openStores(ctx, in, o)
	if err != nil {
		return nil, err
	}
	store := stores[0]
	if in.Probs != "" {
		if len(stores) > 1 {
			return nil, fmt.Errorf("audit: found %d stores beside given probabilities, expected one, in which "+
				"outliers and copies are found", len(stores))
		}
		if err := o.within(d, store.Dim, store.Dim, min(store.Dim, head.Widest)); err != nil {
			return nil, err
		}
		return byProbabilities(ctx, in, whole, d, store, room, o)
	}
	if o.Tuning.Weights != "" {
		if err := o.tuneStored(in, stores, whole); err != nil {
			return nil, err
		}
	}
	if o.sampled(len(d.Select(datasets.Train)), len(d.Classes), len(stores)) {
		return bySample(ctx, in, whole, d, o)
	}
	a, err := o.stored(ctx, d, stores...)
	if err != nil {
		return nil, err
	}
	a.from, a.source, a.Reading = in.Manifest, whole, whole.Reading
	a.groupCopies(whole)
	if store.Views() > 1 {
		a.View = in.View
	}
	return a, nil
}

// apart reports whether to judge n images of some classes apart from each other although no sample is asked for: they
// are too many, and the scorer can.
func (o Options) apart(n, classes, stores int) bool {
	return !o.Together && stores == 1 && o.Tuning.Weights == "" && o.Rounds <= 1 &&
		audit.Named(o.Scorer).Shardable && !audit.Together(n, classes)
}

// sampled reports whether n images of some classes are judged apart from each other: on request, or if
// they are too many.
func (o *auditing) sampled(n, classes, stores int) bool {
	if o.FitSample == 0 && o.apart(n, classes, stores) {
		o.FitSample = audit.Fitted
		o.Note("%d images of %d classes are judged apart from each other, fitted to %d of them (a fit sample of 0 "+
			"judges them together)", n, classes, o.FitSample)
	}
	return o.FitSample > 0
}

// fit replaces the memory of the whole audit by what is left for similarities, and chooses the scorer if none is named.
func (o *auditing) fit(d *datasets.Dataset, dim int) error {
	if o.Scorer == "" {
		return o.choose(d, dim, dim, min(dim, head.Widest))
	}
	return o.within(d, dim, dim, min(dim, head.Widest))
}

// stored judges the training images of d by the stores of one backbone or several.
func (o auditing) stored(ctx context.Context, d *datasets.Dataset, stores ...*features.Store) (*Report, error) {
	if err := o.fit(d, values(stores)); err != nil {
		return nil, err
	}
	data, parts, free, err := join(ctx, d, stores)
	defer func() { free() }()
	if err != nil {
		return nil, err
	}
	o.Classes, o.Whiten, o.Parts = len(data.Classes), true, parts
	if o.Names == nil {
		for _, store := range stores {
			o.Names = append(o.Names, store.Dir)
		}
	}
	set := data.Train
	if o.beside != nil {
		o.Beside = o.beside.on(set.IDs, data.Classes)
	}
	if o.pictures != nil {
		o.Same = samePictures(o.pictures, d, data.Train.IDs)
		o.Hashes = hashesOf(o.looks, data.Train.IDs)
	}
	// let the audit free them
	data.Train.X, data.Stored, data.Validation = blas32.General{}, features.Set{}, features.Set{}
	result, err := o.Run(ctx, set, o.Options.Options)
	if err != nil {
		return nil, err
	}
	a := Report{LeftOut: data.LeftOut}
	return &a, a.name(result, data.Train.IDs, d, data.Classes, o.Note)
}
