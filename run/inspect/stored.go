package inspect

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/run/extraction"
)

// ofStored judges the training labels of a manifest by the stored features of its images, whitened, or by given
// probabilities.
func ofStored(ctx context.Context, in Input, o auditing) (*Report, error) {
	read := datasets.ReadOptions{Numbered: in.Probs != "", Names: in.Columns,
		Root: cmp.Or(in.Root, extraction.PicturesOf(in.Features)), Note: o.Note}
	if o.FitSample > 0 {
		read.Once = ctx
	}
	whole, err := datasets.Read(in.Manifest, read)
	if err != nil {
		return nil, err
	}
	if err := o.nameClasses(in, whole); err != nil {
		return nil, err
	}
	d, room := o.asJudged(whole), cmp.Or(o.MaxMem, eval.DefaultMaxMem)
	if o.FitSample > 0 {
		return bySample(ctx, in, whole, d, o)
	}
	var stores []*features.Store
	if in.Features != "" {
		if stores, err = openStores(ctx, in, o); err != nil {
			return nil, err
		}
	}
	if o.Tuning.Weights != "" {
		if err := o.tuneStored(in, stores, whole); err != nil {
			return nil, err
		}
	}
	var a *Report
	if in.Probs != "" || len(stores) == 0 {
		a, err = o.byProbabilities(ctx, in.Probs, whole, d, room, stores...)
	} else {
		if o.judgesSampled(len(d.Select(datasets.Train)), len(d.Classes), len(stores)) {
			return bySample(ctx, in, whole, d, o)
		}
		if a, err = o.judgeStored(ctx, d, stores...); err == nil {
			a.groupCopies(whole)
		}
	}
	if err != nil {
		return nil, err
	}
	a.from, a.source, a.Reading = in.Manifest, whole, whole.Reading
	if len(stores) > 0 && stores[0].Views() > 1 {
		a.View = in.View
	}
	return a, nil
}

// judgesApart reports whether to judge n images of some classes apart from each other although no sample is asked for:
// they are too many, and the scorer can.
func (o Options) judgesApart(n, classes, stores int) bool {
	return !o.Together && stores == 1 && o.Tuning.Weights == "" && o.Rounds <= 1 &&
		audit.Named(o.Scorer).Shardable && !audit.Together(n, classes)
}

// judgesSampled reports whether n images of some classes are judged apart from each other: on request, or if
// they are too many.
func (o *auditing) judgesSampled(n, classes, stores int) bool {
	if o.FitSample == 0 && o.judgesApart(n, classes, stores) {
		o.FitSample = audit.Fitted
		o.Note("%d images of %d classes are judged apart from each other, fitted to %d of them (a fit sample of 0 "+
			"judges them together)", n, classes, o.FitSample)
	}
	return o.FitSample > 0
}

// fitMemory replaces the memory of the whole audit by what is left for similarities, and chooses the scorer if none is
// named.
func (o *auditing) fitMemory(d *datasets.Dataset, dim int) error {
	if o.Scorer == "" {
		return o.chooseJudge(d, dim, dim, min(dim, head.Widest))
	}
	return o.limitMemory(d, dim, dim, min(dim, head.Widest))
}

// judgeStored judges the training images of d by the stores of one backbone or several.
func (o auditing) judgeStored(ctx context.Context, d *datasets.Dataset, stores ...*features.Store) (*Report, error) {
	if err := o.fitMemory(d, countImageValues(stores)); err != nil {
		return nil, err
	}
	data, parts, free, err := joinBackbones(ctx, d, stores)
	defer func() { free() }()
	if err != nil {
		return nil, err
	}
	o.Whiten, o.Parts = true, parts
	if o.Names == nil {
		for _, store := range stores {
			o.Names = append(o.Names, store.Dir)
		}
	}
	set := data.Train
	if o.beside != nil {
		o.Beside = o.beside.selectJudgementOn(set.IDs, data.Classes)
	}
	if o.pictures != nil {
		o.Same = samePictures(o.pictures, d, data.Train.IDs)
		o.Hashes = hashesOf(o.looks, data.Train.IDs)
	}
	j := o.judge(d, data.Classes, data.LeftOut)
	// let the audit free them
	data.Train.X, data.Stored, data.Validation = blas32.General{}, features.Set{}, features.Set{}
	return j.reportOn(ctx, set, o.Note)
}
