package inspect

import (
	"context"
	"fmt"
	"path/filepath"

	"winnow/audit"
	"winnow/filters"
	"winnow/filters/selfpaced"
	"winnow/internal/hint"
	"winnow/run/folder"
	"winnow/train"
)

// readWeights reads the final weights of a run's samples.
func readWeights(r *folder.Run) ([]folder.Weight, error) {
	if !r.Config.SelfPaced.On() {
		return nil, hint.Unfit("scorer", "%s needs a run that weighs its samples (selfpaced.every), and %s does not",
			audit.SelfPaced, r.Dir)
	}
	return folder.ReadWeights(r.Dir)
}

// byWeights judges a run's labels by the samples' final weights. The default filter suggests labels and finds
// neighbours in the last embedding of the training. Labels of weight 0 are flagged unless a rate is asked for.
func byWeights(ctx context.Context, r *folder.Run, by audit.Scorer, o auditing) (*Report, error) {
	if o.IncludeEval {
		return nil, hint.Unfit("include-eval", "the training of %s recorded only its training images: name another "+
			"scorer", r.Dir)
	}
	suggest := filters.Default()
	o.Scorer, o.Filter = suggest.Scorer, &suggest
	list, err := readWeights(r)
	if err != nil {
		return nil, err
	}
	j, err := o.openLast(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := checkWeighed(list, j); err != nil {
		return nil, hint.With(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, folder.WeightsFile), err),
			"a training records the images and labels that it was given; the scorer %s judges others", suggest.Scorer)
	}
	given := &audit.Given{Name: by.Name}
	for _, w := range list {
		given.Score, given.Wrong = append(given.Score, w.Weight), append(given.Wrong, !(w.Weight > 0))
	}
	j.Given = given
	if err := j.findIn(r, r.Store); err != nil {
		return nil, err
	}
	z, err := j.embedThroughHead(ctx, j.set)
	if err != nil {
		return nil, err
	}
	given.Order = selfpaced.Ranking(z.Labels, given.Score, selfpaced.LossesOf(r.Config.SelfPaced.Config, z,
		train.Rand(r.Config.Seed, "audit", 0)))
	return j.reportOn(ctx, z, o.Note)
}

// checkWeighed refuses weights that are not of the images and labels of j.
func checkWeighed(list []folder.Weight, j judged) error {
	if n := len(list); n != j.set.Len() {
		return fmt.Errorf("found %d images, expected the %d labelled, readable training images", n, j.set.Len())
	}
	for i, id := range j.set.IDs {
		sample := j.d.Samples[id]
		if given := j.d.Classes[sample.Label]; list[i].Path != sample.Path || list[i].Label != given {
			return fmt.Errorf("entry %d: found %q with the label %q, expected %q with %q", i+1, list[i].Path,
				list[i].Label, sample.Path, given)
		}
	}
	return nil
}
