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

// Recorded returns what the scores of a scorer by a training's record mean, "" of other scorers.
func Recorded(scorer string) string {
	if s := audit.Named(scorer); s.Kind == audit.ByRecord {
		return s.Help
	}
	return ""
}

// byTraining judges a run's labels by what the training saw of its samples. Labels are suggested, and neighbours found, by
// vMF-Sim on the embedding that the training ended with.
func byTraining(ctx context.Context, r *folder.Run, o Options) (*Report, error) {
	by := o.Scorer
	if o.IncludeEval {
		return nil, unfit("--include-eval: what the training of %s saw is of its training images: name another --scorer", r.Dir)
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
	j, err := openLast(ctx, r, o.Options)
	if err != nil {
		return nil, err
	}
	err = sameImages(j.set, j.d, len(list), "", func(i int) (path, label string) { return list[i].Path, list[i].Label })
	if err != nil {
		return nil, hint.With(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, folder.SamplesFile), err), "scores of a training are of the images and labels that it was given; --scorer %s judges others", suggest.Scorer)
	}
	var rows []int
	given := &audit.Given{Name: by}
	for i := range list {
		if !ok[i] {
			j.left = append(j.left, lookup.LeftOut{Path: list[i].Path, Reason: "no batch of the last part of the training held it, or none that could judge it"})
			continue
		}
		rows = append(rows, i)
		given.Score, given.Order = append(given.Score, scores[i]), append(given.Order, orders[i])
	}
	j.set, j.opts.Given = j.set.Rows(rows), given
	if err := j.findIn(r, r.Store); err != nil {
		return nil, err
	}
	return j.report(ctx, o.Note)
}

// noScores says why a run has nothing to rank its samples by.
func noScores(r *folder.Run, by string, list []samples.Sample) error {
	seen := slices.ContainsFunc(list, func(s samples.Sample) bool { return s.Seen > 0 })
	switch cfg := r.Config; {
	case !cfg.Scores.Record:
		return unfit("--scorer %s: the run of %s kept nothing of its samples (scores.record is false): train with scores.record on", by, r.Dir)
	case len(list) == 0:
		return unfit("--scorer %s: %s holds no %s: the training is not finished, or older than this scorer", by, r.Dir, folder.SamplesFile)
	case !seen:
		return unfit("--scorer %s: the training of %s ended before the last %.0f %% of its steps, which are averaged: train shorter, or set scores.window", by, r.Dir, 100*cfg.Scores.Window)
	case by == samples.SmallLoss:
		return unfit("--scorer %s: %s", by, whyNoLoss(cfg))
	case cfg.Method != config.Metric:
		return unfit("--scorer %s: the method of the run, %s, judges no embedding: --scorer %s may be there, and --scorer vmf judges where the training ended", by, cfg.Method, samples.SmallLoss)
	}
	return unfit("--scorer %s: the run's filter is %s, which gives no scores that leave the image out: train with --set scores.watch=vmf, which drops nothing", by, r.Config.Filter.Scorer)
}

// whyNoLoss says why no sample of a run has a loss of its own.
func whyNoLoss(cfg config.Run) string {
	if cfg.Method != config.Metric {
		return fmt.Sprintf("%s has no loss that is a sum over samples", cfg.Method)
	}
	if cfg.SelfPaced.On() {
		return "the run weighs its samples, and a loss that is weighed says how little a sample counts: expected --scorer " + audit.SelfPaced
	}
	for _, l := range cfg.Losses {
		loss, err := losses.New(l.Name, l.Settings, losses.Env{Dim: cfg.Head.Out, Classes: 2, Init: train.Rand(0, "terms", 0)})
		if err != nil {
			return err.Error()
		}
		if rows, ok := loss.(losses.RowWise); !ok || !rows.NoteTerms() {
			return fmt.Sprintf("the loss %s, as the run sets it, is no sum of terms of single images, so that no image has a loss of its own", l.Term())
		}
	}
	return "no image had another of its label to be compared with"
}
