package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"winnow/audit"
	"winnow/filters"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/losses"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/samples"
)

// Recorded explains the scores of a scorer that uses the record of a training; it returns "" for other scorers.
func Recorded(scorer string) string {
	if s := audit.Named(scorer); s.Kind == audit.ByRecord {
		return s.Help
	}
	return ""
}

// byTraining judges a run's labels by the record of the training. vMF-Sim suggests labels and finds neighbours in the
// last embedding of the training.
func byTraining(ctx context.Context, r *folder.Run, o auditing) (*Report, error) {
	by := o.Scorer
	if o.IncludeEval {
		return nil, hint.Unfit("include-eval", "the training of %s recorded only its training images: name another "+
			"scorer", r.Dir)
	}
	list, err := folder.ReadSamples(r.Dir)
	if err != nil {
		return nil, err
	}
	suggest := filters.Default()
	if suggest.Rate = ownRate(r.Config); o.Rate != nil {
		suggest.Rate = *o.Rate
	}
	o.Scorer, o.Filter, o.Rate = suggest.Scorer, &suggest, &suggest.Rate
	scores, orders, ok := samples.Rank(list, by)
	if !slices.Contains(ok, true) {
		return nil, noScores(r, by, list)
	}
	j, err := o.openLast(ctx, r)
	if err != nil {
		return nil, err
	}
	err = sameImages(j.set, j.d, len(list), "", func(i int) (path, label string) { return list[i].Path, list[i].Label })
	if err != nil {
		return nil, hint.With(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, folder.SamplesFile), err),
			"a training scores the images and labels that it was given; the scorer %s judges others", suggest.Scorer)
	}
	var rows []int
	given := &audit.Given{Name: by}
	for i := range list {
		if !ok[i] {
			j.left = append(j.left, lookup.LeftOut{Path: list[i].Path,
				Reason: "no batch of the last part of the training held it, or none that could judge it"})
			continue
		}
		rows = append(rows, i)
		given.Score, given.Order = append(given.Score, scores[i]), append(given.Order, orders[i])
	}
	j.set, j.Given = j.set.Rows(rows), given
	if err := j.findIn(r, r.Store); err != nil {
		return nil, err
	}
	return j.report(ctx, o.Note)
}

// noScores says why a run has no scores to rank its samples by.
func noScores(r *folder.Run, by string, list []samples.Sample) error {
	seen := slices.ContainsFunc(list, func(s samples.Sample) bool { return s.Seen > 0 })
	switch cfg := r.Config; {
	case !cfg.Scores.Record:
		return hint.Unfit("scorer", "%s: the run %s recorded nothing of its samples (scores.record is false)", by,
			r.Dir)
	case len(list) == 0:
		return hint.Unfit("scorer", "%s: %s holds no %s: the training is not finished, or older than this scorer", by,
			r.Dir, folder.SamplesFile)
	case !seen:
		return hint.Unfit("scorer", "%s: the training of %s ended before the last %.0f %% of its steps, which are "+
			"averaged: train shorter, or set scores.window", by, r.Dir, 100*cfg.Scores.Window)
	case by == samples.SmallLoss:
		return hint.Unfit("scorer", "%s: %s", by, whyNoLoss(cfg))
	case cfg.Method != config.Metric:
		return hint.Unfit("scorer", "%s: the method of the run, %s, judges no embedding: try %s, or vmf, which judges "+
			"the last embedding", by, cfg.Method, samples.SmallLoss)
	}
	return hint.Unfit("scorer", "%s: the run's filter, %s, gives no scores that leave the image out: train with "+
		"scores.watch=vmf, which drops nothing", by, r.Config.Filter.Scorer)
}

// whyNoLoss says why no sample of a run has a loss of its own.
func whyNoLoss(cfg config.Run) string {
	if cfg.Method != config.Metric {
		return fmt.Sprintf("%s has no loss that is a sum over samples", cfg.Method)
	}
	if cfg.SelfPaced.On() {
		return "the run weighs its samples, and a weighed loss mostly shows the weight: expected the scorer " +
			audit.SelfPaced
	}
	for _, l := range cfg.Losses {
		loss, err := losses.New(l.Name, l.Settings,
			losses.Env{Dim: cfg.Head.Out, Classes: 2, Init: train.Rand(0, "terms", 0)})
		if err != nil {
			return err.Error()
		}
		if rows, ok := loss.(losses.RowWise); !ok || !rows.NoteTerms() {
			return fmt.Sprintf("the loss %s, with the settings of the run, is no sum of terms of single images: no "+
				"image has a loss of its own", l.Term())
		}
	}
	return "no image had another of its label to be compared with"
}
