package inspect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"winnow/audit"
	"winnow/filters"
	"winnow/filters/selfpaced"
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

// record is what a training kept of its samples: the image and label of each, and the scores that rank them.
type record struct {
	file        string // in the run's folder
	path, label []string
	score       []float64
	order       []float64 // nil: by weights, and equal ones by losses
	ok          []bool    // those that have scores; nil: all
}

// readWeights reads the final weights of a run's samples.
func readWeights(r *folder.Run) (rec record, err error) {
	if !r.Config.SelfPaced.On() {
		return rec, hint.Unfit("scorer", "%s needs a run that weighs its samples (selfpaced.every), and %s does not",
			audit.SelfPaced, r.Dir)
	}
	list, err := folder.ReadWeights(r.Dir)
	rec.file = folder.WeightsFile
	for _, w := range list {
		rec.path, rec.label = append(rec.path, w.Path), append(rec.label, w.Label)
		rec.score = append(rec.score, w.Weight)
	}
	return rec, err
}

// readScores reads the losses and scores that a training recorded, as the scorer by ranks them.
func readScores(r *folder.Run, by string) (rec record, err error) {
	list, err := folder.ReadSamples(r.Dir)
	if err != nil {
		return rec, err
	}
	rec.file = folder.SamplesFile
	for _, s := range list {
		rec.path, rec.label = append(rec.path, s.Path), append(rec.label, s.Label)
	}
	if rec.score, rec.order, rec.ok = samples.Rank(list, by); !slices.Contains(rec.ok, true) {
		return rec, noScores(r, by, list)
	}
	return rec, nil
}

// byRecord judges a run's labels by what the training recorded. The default filter suggests labels and finds
// neighbours in the last embedding of the training. Labels of weight 0 are called wrong unless a rate is asked for.
func byRecord(ctx context.Context, r *folder.Run, by audit.Scorer, o auditing) (*Report, error) {
	if o.IncludeEval {
		return nil, hint.Unfit("include-eval", "the training of %s recorded only its training images: name another "+
			"scorer", r.Dir)
	}
	var rec record
	var err error
	suggest := filters.Default()
	o.Scorer, o.Filter = suggest.Scorer, &suggest
	if by.Kind == audit.ByWeights {
		rec, err = readWeights(r)
	} else {
		if suggest.Rate = ownRate(r.Config); o.Rate != nil {
			suggest.Rate = *o.Rate
		}
		o.Rate = &suggest.Rate
		rec, err = readScores(r, by.Name)
	}
	if err != nil {
		return nil, err
	}
	j, err := o.openLast(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := rec.checkImages(j); err != nil {
		return nil, hint.With(fmt.Errorf("audit: %s: %w", filepath.Join(r.Dir, rec.file), err),
			"a training records the images and labels that it was given; the scorer %s judges others", suggest.Scorer)
	}
	given := &audit.Given{Name: by.Name}
	var rows []int
	for i := range rec.path {
		if rec.ok != nil && !rec.ok[i] {
			j.left = append(j.left, lookup.LeftOut{Path: rec.path[i],
				Reason: "no batch of the last part of the training held it, or none that could judge it"})
			continue
		}
		rows, given.Score = append(rows, i), append(given.Score, rec.score[i])
		if rec.order != nil {
			given.Order = append(given.Order, rec.order[i])
		}
	}
	j.set, j.Given = j.set.Rows(rows), given
	if err := j.findIn(r, r.Store); err != nil {
		return nil, err
	}
	z, err := j.embedThroughHead(ctx, j.set)
	if err != nil {
		return nil, err
	}
	if rec.order == nil {
		given.Wrong = make([]bool, len(given.Score))
		for i, w := range given.Score {
			given.Wrong[i] = !(w > 0)
		}
		given.Order = selfpaced.Ranking(z.Labels, given.Score, selfpaced.LossesOf(r.Config.SelfPaced.Config, z,
			train.Rand(r.Config.Seed, "audit", 0)))
	}
	return j.reportOn(ctx, z, o.Note)
}

// checkImages refuses a record that is not of the images and labels of j.
func (rec record) checkImages(j judged) error {
	if n := len(rec.path); n != j.set.Len() {
		return fmt.Errorf("found %d images, expected the %d labelled, readable training images", n, j.set.Len())
	}
	for i, id := range j.set.IDs {
		sample := j.d.Samples[id]
		if given := j.d.Classes[sample.Label]; rec.path[i] != sample.Path || rec.label[i] != given {
			return fmt.Errorf("entry %d: found %q with the label %q, expected %q with %q", i+1, rec.path[i],
				rec.label[i], sample.Path, given)
		}
	}
	return nil
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
