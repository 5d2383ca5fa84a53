package runner

import (
	"context"
	"slices"
	"time"

	"winnow/audit"
	"winnow/features"
	"winnow/head"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// training is a cell that can be trained.
type training struct {
	cfg    config.Run
	labels *labelled
	data   run.Data
	from   *data
	every  config.Span // interval between checkpoints, if the network is trained
}

// prepareCell joins a cell's labels with their features.
func (r *reproduction) prepareCell(ctx context.Context, cell studies.Cell) (t training, err error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	t.from = r.findRowData(row, column, cell.Seed)
	if t.cfg, err = r.resolveCellConfig(cell); err != nil {
		return t, err
	}
	t.every, t.cfg.Checkpoint = t.cfg.Checkpoint, config.Span{}
	if t.labels, err = t.from.labelData(ctx, row.Labels, column, cell.Seed); err != nil {
		return t, err
	}
	if t.data, err = run.Join(ctx, t.labels.data, t.from.store); err != nil {
		return t, err
	}
	// Recipes contain the papers' bank sizes. On smaller data the bank must not hold an image several times.
	t.cfg.Bank.Size = min(t.cfg.Bank.Size, t.data.Train.Len())
	if from := t.from.from; t.cfg.Finetune.On() {
		t.cfg.Data = config.Data{
			Manifest: from.Manifest.String(), Features: t.from.store.Dir, Root: from.Root.String(),
		}
	}
	return t, nil
}

// embedder embeds images, given their features.
type embedder func(features.Set) (features.Set, error)

// runCell computes a cell's outcome, with or without a training.
func (r *reproduction) runCell(ctx context.Context, cell studies.Cell, at func(share float64)) (
	studies.Outcome, error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	o := studies.Outcome{
		Study: r.Study.Name, Row: row.Name, Column: column.Name, Seed: cell.Seed, Version: r.Winnow,
		Measures: map[string]float64{},
	}
	switch {
	case r.Study.Drawn():
		return o, r.drawCell(ctx, &o, cell)
	case r.timesSteps():
		return o, r.timeCell(ctx, &o, cell)
	}
	o.Data = r.findRowData(row, column, cell.Seed).name
	t, err := r.prepareCell(ctx, cell)
	if err != nil {
		return o, err
	}
	o.NoiseRate = t.labels.rate
	o.Inputs = map[string]string{"features": t.data.StoreSum, "images": t.data.Sum}
	start := time.Now()
	switch {
	case row.Recipe != "":
		err = r.trainAndMeasureCell(ctx, &o, t, row, cell, at)
	case row.Untrained != "":
		var embed embedder
		if embed, err = newUntrainedEmbedder(ctx, row.Untrained, t); err == nil {
			err = r.measureCell(ctx, &o, embed, newFrozenEmbedder(ctx), t)
		}
	default:
		err = r.judgeLabels(ctx, &o, t, t.data.Train, audit.Options{Scorer: row.Judge, Whiten: true})
	}
	o.Seconds += time.Since(start).Seconds()
	if row.Recipe == "" {
		o.Measures[seconds] = o.Seconds
	}
	return o, err
}

// newFrozenEmbedder returns an embedder that leaves the features unchanged.
func newFrozenEmbedder(ctx context.Context) embedder {
	return func(set features.Set) (features.Set, error) { return folder.EmbedFrozen(ctx, set) }
}

// newUntrainedEmbedder returns an embedder that leaves the features unchanged, or whitens them to the dimension that a
// head would have.
func newUntrainedEmbedder(ctx context.Context, how string, t training) (embedder, error) {
	if how == studies.Frozen {
		return newFrozenEmbedder(ctx), nil
	}
	white, err := head.Whitening(ctx, t.data.Train, min(t.cfg.Head.Out, t.data.Train.Dim()), t.cfg.Head.Bias)
	if err != nil {
		return nil, err
	}
	return func(set features.Set) (features.Set, error) { return white.EmbedSet(ctx, set) }, nil
}

// newHeadEmbedder returns an embedder that uses a head on the network's current state.
func newHeadEmbedder(ctx context.Context, on *run.Training, h *head.Head) embedder {
	return func(set features.Set) (features.Set, error) {
		now, err := on.Now(ctx, set)
		if err != nil {
			return now, err
		}
		return h.EmbedSet(ctx, now)
	}
}

// newNetworkEmbedder returns an embedder that uses the network's current state without a head.
func newNetworkEmbedder(ctx context.Context, on *run.Training) embedder {
	return func(set features.Set) (features.Set, error) {
		now, err := on.Now(ctx, set)
		if err != nil {
			return now, err
		}
		return folder.EmbedFrozen(ctx, now)
	}
}

// trainAndMeasureCell trains and measures a cell. A cell that trains a network keeps a checkpoint and resumes from it.
func (r *reproduction) trainAndMeasureCell(ctx context.Context, o *studies.Outcome, t training, row studies.Row,
	cell studies.Cell, at func(share float64)) error {
	last := r.Study.State == studies.Last
	if last && !r.followsValidation() && cell.Choice == 0 {
		t.data.Validation = features.Set{} // the outcome does not depend on validation
	}
	start := time.Now()
	on, dir, err := r.resolveTraining(ctx, t, cell)
	if err != nil {
		return err
	}
	defer on.Close()
	seen, err := r.newRecorder(on.Plan, t.labels.data)
	if err != nil {
		return err
	}
	observers := []train.Observer{seen.observeFact, train.On(func(s train.Step) {
		at(0.99 * float64(s.Number) / float64(max(on.Steps, 1))) // measuring takes the rest
	})}
	if dir != "" {
		keeps, err := seen.keepSeen(dir, on.Resumed, start)
		if err != nil {
			return err
		}
		observers = append(observers, keeps)
	}
	before := seen.seen.Time
	var aside time.Duration
	if r.Study.State == studies.Best {
		observers = append(observers, func(fact any) error {
			ended, ok := fact.(run.Ended)
			if !ok {
				return nil
			}
			start := time.Now()
			defer func() { aside = time.Since(start) }()
			last := studies.Outcome{Seed: o.Seed, Measures: map[string]float64{}}
			err := r.measureCell(ctx, &last, newHeadEmbedder(ctx, on, ended.Last), newNetworkEmbedder(ctx, on), t)
			o.Last = last.Measures
			return err
		})
	}
	out, err := on.Run(ctx, observers...)
	if err != nil {
		return err
	}
	o.Measures[seconds] = (before + time.Since(start) - aside).Seconds()
	o.Seconds = before.Seconds()
	o.Steps, o.Settings = out.Step, config.Flatten(out.Config)
	if cell.Choice > 0 {
		if o.Score = out.BestScore; last {
			o.Score = out.LastScore
		}
	}
	seen.writeWeights(o)
	seen.writeRecorded(o)
	if err := r.measureCell(ctx, o, newHeadEmbedder(ctx, on, out.Head), newNetworkEmbedder(ctx, on), t); err != nil {
		return err
	}
	switch {
	case row.Judge == "" && slices.Contains(r.Study.Measures, auroc):
		return auditOutcome(ctx, o, on, out, t)
	case row.Judge == "":
		return nil
	}
	z, err := newHeadEmbedder(ctx, on, out.Head)(t.data.Train)
	if err != nil {
		return err
	}
	return r.judgeLabels(ctx, o, t, z, audit.Options{Scorer: row.Judge})
}
