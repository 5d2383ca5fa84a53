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

// newValidator returns a function that measures the current state of a run on the validation split by
// validation.measure; nil if no such split chooses the state.
func (r *Training) newValidator() (func(context.Context) (float64, error), error) {
	if r.Data.Validation.Len() == 0 || r.blind {
		return nil, nil
	}
	measure := r.Config.Validation.Measure
	if measure == config.MeasureClassMean && !features.ShareLabel(r.Data.datasetLabels(), r.Data.Validation.Labels) {
		return nil, hint.With(fmt.Errorf("train: validation.measure is %s, but no image of the validation split has a "+
			"class of the train split", config.MeasureClassMean),
			"validate by retrieval: %s; or make a validation split with the classes of the train split",
			config.Key("validation.measure=p@1"))
	}
	return func(ctx context.Context) (float64, error) { return r.Data.Score(ctx, measure, r.embedNow, r.spillNow) }, nil
}

// Score measures an embedding on the validation split; measure is a value of config.Validation.Measure. If the measure
// needs the train split, spill embeds it into vectors that may be on disk until free is called.
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
	fit.Labels = d.datasetLabels() // the labels of Validation are class ids of the dataset
	fit, free, err := spill(ctx, fit)
	if err != nil {
		return 0, err
	}
	a, err := eval.NearestClassMean(ctx, fit, now, eval.ClassifierOptions{})
	return a.Accuracy, errors.Join(err, free())
}

// embedNow embeds a set with the current state of the run. An error names the image.
func (r *Training) embedNow(ctx context.Context, set features.Set) (features.Set, error) {
	now, err := r.backbone.Now(ctx, set)
	if err != nil {
		return now, err
	}
	z, err := r.head.EmbedSet(ctx, now)
	return z, r.nameImage(err, set)
}

// spillNow does the same as embedNow, but its vectors may be on disk: callers must neither write to them nor read them
// after free.
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

// nameImage adds the path of the image to an error of the head.
func (r *Training) nameImage(err error, set features.Set) error {
	if bad := new(head.NotFinite); errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", r.Data.Paths[set.IDs[bad.Row]], err)
	}
	return err
}

// precisionAt1 returns P@1 of embedded images, each a query against the others.
func precisionAt1(ctx context.Context, z features.Set) (float64, error) {
	r, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}, MaxMem: folder.MaxMem})
	if err == nil && r.N == 0 {
		err = fmt.Errorf("no two of the %d validation images have the same class, expected such pairs", z.Len())
	}
	return r.PrecisionAt1, err
}
