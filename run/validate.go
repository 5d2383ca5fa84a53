package run

import (
	"context"
	"errors"
	"fmt"

	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
)

// newValidator returns a function that scores the present state of a run on its validation split by validation.measure;
// nil if there is no such split.
func (r *Training) newValidator() (func(context.Context) (float64, error), error) {
	if r.Data.Validation.Len() == 0 {
		return nil, nil
	}
	measure := r.Config.Validation.Measure
	if measure == config.MeasureClassMean && !features.ShareLabel(r.Data.datasetLabels(), r.Data.Validation.Labels) {
		return nil, hint.With(fmt.Errorf("train: validation.measure is %s, and no image of the validation split has a "+
			"class of the train split", config.MeasureClassMean),
			"validate by retrieval: %s; or make a validation split of the classes that are trained",
			config.Key("validation.measure=p@1"))
	}
	return func(ctx context.Context) (float64, error) { return r.Data.Score(ctx, measure, r.embedNow, r.spillNow) }, nil
}

// Score returns a measure of validation (config.Validation) of an embedding on the validation split. If the measure
// needs the train split, spill embeds it, with vectors that may be outside the program's memory until they are freed.
func (d Data) Score(ctx context.Context, measure string, embed func(context.Context, features.Set) (features.Set,
	error), spill func(context.Context, features.Set) (z features.Set, free func() error, err error)) (float64, error) {
	now, err := embed(ctx, d.Validation)
	if err != nil {
		return 0, err
	}
	if measure != config.MeasureClassMean {
		return precisionAt1(ctx, now)
	}
	fit := d.Train
	fit.Labels = d.datasetLabels() // validation has the dataset's class ids
	fit, free, err := spill(ctx, fit)
	if err != nil {
		return 0, err
	}
	a, err := eval.NearestClassMean(ctx, fit, now, eval.ClassifierOptions{})
	return a.Accuracy, errors.Join(err, free())
}

// embedNow embeds a set by the present state of the run. An error names the image.
func (r *Training) embedNow(ctx context.Context, set features.Set) (features.Set, error) {
	now, err := r.backbone.Now(ctx, set)
	if err != nil {
		return now, err
	}
	z, err := r.head.EmbedSet(ctx, now)
	return z, r.nameImage(err, set)
}

// spillNow is embedNow with vectors that must not be written to, nor read after free.
func (r *Training) spillNow(ctx context.Context, set features.Set) (z features.Set, free func() error, err error) {
	now, err := r.backbone.Now(ctx, set)
	if err != nil {
		return now, nil, err
	}
	if z, free, err = r.head.EmbedSpilled(ctx, now); err != nil {
		return z, nil, errors.Join(r.nameImage(err, set), free())
	}
	return z, free, nil
}

// nameImage adds to an error of the head the name of the image.
func (r *Training) nameImage(err error, set features.Set) error {
	if bad := new(head.NotFinite); errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", r.Data.Paths[set.IDs[bad.Row]], err)
	}
	return err
}

// precisionAt1 scores embedded images, each a query to the others.
func precisionAt1(ctx context.Context, z features.Set) (float64, error) {
	r, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}, MaxMem: folder.MaxMem})
	if err == nil && r.N == 0 {
		err = fmt.Errorf("no class has two of the %d validation images: nothing can be retrieved", z.Len())
	}
	return r.PrecisionAt1, err
}
