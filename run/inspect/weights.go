package inspect

import (
	"context"
	"fmt"
	"path/filepath"

	"winnow/audit"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/selfpaced"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// byWeights judges a run's labels by its final weights. Labels of weight 0 are flagged unless a
// rate is asked for. Losses rank equal weights and vmf suggests labels, both in the embedding that the
// weights belong to: the training's last.
func byWeights(ctx context.Context, r *folder.Run, o auditing) (*Report, error) {
	if o.IncludeEval {
		return nil, hint.Unfit("include-eval", "the weights of %s are for its training images: name another scorer",
			r.Dir)
	}
	if !r.Config.SelfPaced.On() {
		return nil, hint.Unfit("scorer", "%s needs a run that weighs its samples (selfpaced.every), and %s does not",
			audit.SelfPaced, r.Dir)
	}
	weights, err := folder.ReadWeights(r.Dir)
	if err != nil {
		return nil, err
	}
	suggest := filters.Default()
	o.Scorer, o.Filter = suggest.Scorer, &suggest
	j, err := o.openLast(ctx, r)
	if err != nil {
		return nil, err
	}
	err = sameImages(j.set, j.d, len(weights), "weights of ", func(i int) (path, label string) {
		return weights[i].Path,
			weights[i].Label
	})
	if err != nil {
		return nil, hint.With(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, folder.WeightsFile), err),
			"weights are for the images and labels of the training; the scorer %s judges others", suggest.Scorer)
	}
	if err := j.findIn(r, r.Store); err != nil {
		return nil, err
	}
	z, err := j.embed(ctx, j.set)
	if err != nil {
		return nil, err
	}
	j.Given = weighed(r.Config, z, weights)
	return j.reportOn(ctx, z, o.Note)
}

// weighed ranks embedded images by their weights, and those of equal weight by their losses.
func weighed(cfg config.Run, z features.Set, list []folder.Weight) *audit.Given {
	g := &audit.Given{Name: audit.SelfPaced, Wrong: make([]bool, len(list))}
	for i, w := range list {
		g.Score = append(g.Score, w.Weight)
		g.Wrong[i] = !(w.Weight > 0)
	}
	g.Order = selfpaced.Ranking(z.Labels, g.Score, selfpaced.LossesOf(cfg.SelfPaced.Config, z, train.Rand(cfg.Seed,
		"audit", 0)))
	return g
}
