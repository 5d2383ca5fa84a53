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
	"winnow/run/tuning"
)

// validator scores the present state of a run on its validation split, as validation.measure says; nil where there is
// no such split.
func validator(cfg config.Run, data Data, h *head.Head, t *tuning.Tuning) (func(context.Context) (float64, error), error) {
	if data.Validation.Len() == 0 {
		return nil, nil
	}
	var fit *features.Set // the train split, under the dataset's class ids, which validation has
	if cfg.Validation.Measure == config.MeasureClassMean {
		set := data.Train
		set.Labels = data.datasetLabels()
		if fit = &set; !features.ShareLabel(set.Labels, data.Validation.Labels) {
			return nil, hint.With(fmt.Errorf("train: validation.measure is %s, and no image of the validation split has a class of the train split", config.MeasureClassMean),
				"validate by retrieval: --set validation.measure=%s; or make a validation split of the classes that are trained", config.MeasureP1)
		}
	}
	return func(ctx context.Context) (float64, error) {
		now, err := data.embedNow(ctx, h, t, data.Validation)
		if err != nil {
			return 0, err
		}
		if fit == nil {
			return precisionAt1(ctx, now)
		}
		trained, err := data.embedNow(ctx, h, t, *fit)
		if err != nil {
			return 0, err
		}
		a, err := eval.NearestClassMean(ctx, trained, now, eval.ClassifierOptions{})
		return a.Accuracy, err
	}, nil
}

// embedNow is set as the run embeds it now. An error names the image.
func (t *Data) embedNow(ctx context.Context, h *head.Head, tuned *tuning.Tuning, set features.Set) (features.Set, error) {
	now, err := tuned.Now(ctx, set)
	if err != nil {
		return now, err
	}
	z, err := h.EmbedSet(now)
	if bad := new(head.NotFinite); errors.As(err, &bad) {
		err = fmt.Errorf("%s: %w", t.Paths[set.IDs[bad.Row]], err)
	}
	return z, err
}

// precisionAt1 scores embedded images, each asking the others.
func precisionAt1(ctx context.Context, z features.Set) (float64, error) {
	r, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}})
	if err == nil && r.N == 0 {
		err = fmt.Errorf("no class of the %d validation images has two of them: nothing can be retrieved", z.Len())
	}
	return r.PrecisionAt1, err
}
