package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/selfpaced"
	"winnow/head"
	"winnow/internal/lookup"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// selfPacedScorer as a --scorer is the final weights of a run that weighed its samples.
const selfPacedScorer = "selfpaced"

// auditsByWeights says whether an audit goes by the run's weights: where it has any and nothing else is asked for.
func auditsByWeights(c *cli.Context, cfg config.Run) bool {
	if c.IsSet("scorer") {
		return c.String("scorer") == selfPacedScorer
	}
	return cfg.SelfPaced.On()
}

// auditWeights is an audit by the run's final weights. The losses that rank equal weights, and the suggestions,
// are of the embedding that the weights were found for: the training's last.
func auditWeights(c *cli.Context, r *openedRun, mem int64) (audited, error) {
	if !r.Config.SelfPaced.On() {
		return audited{}, misused("--scorer: %s is about runs that weigh their samples (selfpaced.every), and %s is none", selfPacedScorer, r.Dir)
	}
	weights, err := folder.ReadWeights(r.Dir)
	if err != nil {
		return audited{}, err
	}
	suggest := filters.Default()
	if c.IsSet("noise-rate") {
		if suggest.Rate = c.Float64("noise-rate"); !(suggest.Rate >= 0 && suggest.Rate < 1) {
			return audited{}, misused("--noise-rate: found %v, expected a share from 0 to below 1", suggest.Rate)
		}
	}
	h, store, err := r.LastState(c.Context)
	if err != nil {
		return audited{}, err
	}
	set, left, err := lookup.Split(r.Manifest, store, datasets.Train)
	if err != nil {
		return audited{}, err
	}
	w, err := weightsOf(set.Labelled(), r.Manifest, weights)
	if err != nil {
		return audited{}, withHint(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, folder.WeightsFile), err), "weights are of the images and labels that were trained on; --scorer %s judges others", suggest.Scorer)
	}
	a, err := auditByWeights(c.Context, h, set, r.Manifest, r.Config, w, suggest, mem)
	if err != nil {
		return audited{}, err
	}
	keep := func([]float64) []bool { return a.weighed() }
	if c.IsSet("noise-rate") {
		a.Rate = suggest.Rate
		keep = func(orders []float64) []bool { return eval.KeepShare(orders, suggest.Rate) }
	}
	if err := a.conclude(r.Manifest, keep); err != nil {
		return audited{}, err
	}
	a.LeftOut, a.View = append([]lookup.LeftOut{}, left...), r.Look()
	if r.Tuned != nil {
		a.Backbone = filepath.Join(r.Dir, folder.LastBackboneFile)
	}
	return a, nil
}

// weightsOf are the weights of the rows of set, all labelled, if they are those of these images and labels.
func weightsOf(set features.Set, d *datasets.Dataset, list []folder.Weight) ([]float64, error) {
	if len(list) != set.Len() {
		return nil, fmt.Errorf("found weights of %d images, expected the %d labelled, readable training images", len(list), set.Len())
	}
	w := make([]float64, len(list))
	for i, s := range list {
		sample := d.Samples[set.IDs[i]]
		if label := d.Classes[sample.Label]; s.Path != sample.Path || s.Label != label {
			return nil, fmt.Errorf("entry %d: found %q with the label %q, expected %q with %q", i+1, s.Path, s.Label, sample.Path, label)
		}
		w[i] = s.Weight
	}
	return w, nil
}

// auditByWeights judges the labelled rows of set by their weights w; suggest names the scorer that suggests labels.
func auditByWeights(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, cfg config.Run, w []float64, suggest filters.Config, maxMem int64) (audited, error) {
	a, err := judged(ctx, h, set, d, suggest, nil, maxMem)
	if err != nil {
		return a, err
	}
	losses := selfpaced.LossesOf(cfg.SelfPaced.Config, a.set, train.Rand(cfg.Seed, "audit", 0))
	eval.Rejudge(a.suspects, w, selfpaced.Ranking(a.set.Labels, w, losses))
	a.Scorer, a.Suggests = selfPacedScorer, suggest.Scorer
	excluded := 0
	for _, v := range w {
		if v == 0 {
			excluded++
		}
	}
	a.Rate = float64(excluded) / float64(len(w))
	return a, nil
}

// weighed says which images have a weight above 0.
func (a *audited) weighed() []bool {
	kept := make([]bool, len(a.suspects))
	for i, s := range a.suspects {
		kept[i] = s.Score > 0
	}
	return kept
}
