package run

import (
	"context"
	"errors"
	"fmt"

	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run/comparison"
	"winnow/run/config"
)

// validator returns what scores the present state of a run on its validation split, as validation.measure says; nil where there is
// no such split.
func (r *training) validator() (func(context.Context) (float64, error), error) {
	data := r.data
	if data.Validation.Len() == 0 {
		return nil, nil
	}
	var fit *features.Set // the train split, under the dataset's class ids, which validation has
	if r.cfg.Validation.Measure == config.MeasureClassMean {
		set := data.Train
		set.Labels = data.datasetLabels()
		if fit = &set; !features.ShareLabel(set.Labels, data.Validation.Labels) {
			return nil, hint.With(fmt.Errorf("train: validation.measure is %s, and no image of the validation split has a class of the train split", config.MeasureClassMean),
				"validate by retrieval: --set validation.measure=%s; or make a validation split of the classes that are trained", config.MeasureP1)
		}
	}
	return func(ctx context.Context) (float64, error) {
		now, err := r.embedNow(ctx, data.Validation)
		if err != nil {
			return 0, err
		}
		if fit == nil {
			return precisionAt1(ctx, now)
		}
		present, err := r.backbone.Now(ctx, *fit)
		if err != nil {
			return 0, err
		}
		trained, free, err := r.head.EmbedSpilled(ctx, present)
		if err != nil {
			return 0, errors.Join(r.named(err, *fit), free())
		}
		a, err := eval.NearestClassMean(ctx, trained, now, eval.ClassifierOptions{})
		return a.Accuracy, errors.Join(err, free())
	}, nil
}

// embedNow embeds a set as the run does now. An error names the image.
func (r *training) embedNow(ctx context.Context, set features.Set) (features.Set, error) {
	now, err := r.backbone.Now(ctx, set)
	if err != nil {
		return now, err
	}
	z, err := r.head.EmbedSet(ctx, now)
	return z, r.named(err, set)
}

// named names the image of a set that an error of the head is about.
func (r *training) named(err error, set features.Set) error {
	if bad := new(head.NotFinite); errors.As(err, &bad) {
		return fmt.Errorf("%s: %w", r.data.Paths[set.IDs[bad.Row]], err)
	}
	return err
}

// precisionAt1 scores embedded images, each asking the others.
func precisionAt1(ctx context.Context, z features.Set) (float64, error) {
	r, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}, MaxMem: comparison.MaxMem})
	if err == nil && r.N == 0 {
		err = fmt.Errorf("no class of the %d validation images has two of them: nothing can be retrieved", z.Len())
	}
	return r.PrecisionAt1, err
}
