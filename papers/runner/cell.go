package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"winnow/audit"
	"winnow/features"
	"winnow/head"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/comparison"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/samples"
)

// training is a cell that can be trained.
type training struct {
	cfg    config.Run
	labels *labelled
	data   run.Data
	from   *data
	every  config.Span // interval of the checkpoints, if the network is trained
}

// prepare joins a cell's labels with their features.
func (r *reproduction) prepare(ctx context.Context, cell studies.Cell) (t training, err error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	t.from = r.of(row, column, cell.Seed)
	if t.cfg, err = r.config(cell); err != nil {
		return t, err
	}
	t.every, t.cfg.Checkpoint = t.cfg.Checkpoint, config.Span{}
	if t.labels, err = t.from.as(ctx, row.Labels, column, cell.Seed); err != nil {
		return t, err
	}
	if t.data, err = run.Join(ctx, t.labels.data, t.from.store); err != nil {
		return t, err
	}
	// Recipes name the papers' sizes; the bank must not hold an image several times.
	t.cfg.Bank.Size = min(t.cfg.Bank.Size, t.data.Train.Len())
	if from := t.from.from; t.cfg.Finetune.On() {
		t.cfg.Data = config.Data{
			Manifest: from.Manifest.String(), Features: t.from.store.Dir, Root: from.Root.String(), Model: from.model,
		}
	}
	return t, nil
}

// embedder returns the vectors of images, given their features.
type embedder func(features.Set) (features.Set, error)

// runCell makes a cell. If the files of an earlier part of it do not fit, it starts from the beginning.
func (r *reproduction) runCell(ctx context.Context, cell studies.Cell, at func(share float64)) (
	studies.Outcome, error) {
	o, err := r.try(ctx, cell, at)
	if lost(err) {
		r.grid.Say("%s: starts again: %v", r.describe(cell), err)
		if err := os.RemoveAll(r.cellDir(cell.Key)); err != nil {
			return o, fmt.Errorf("reproduce: %w", err)
		}
		o, err = r.try(ctx, cell, at)
	}
	return o, err
}

// try makes a cell, with or without a training.
func (r *reproduction) try(ctx context.Context, cell studies.Cell, at func(share float64)) (studies.Outcome, error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	o := studies.Outcome{
		Study: r.Study.Name, Row: row.Name, Column: column.Name, Seed: cell.Seed, Version: r.Winnow,
		Measures: map[string]float64{},
	}
	if r.Study.Drawn() {
		return o, r.drawn(ctx, &o, cell)
	}
	o.Data = r.of(row, column, cell.Seed).name
	t, err := r.prepare(ctx, cell)
	if err != nil {
		return o, err
	}
	o.NoiseRate = t.labels.rate
	o.Inputs = map[string]string{"features": t.data.StoreSum, "images": t.data.Sum}
	start := time.Now()
	switch {
	case row.Recipe != "":
		err = r.train(ctx, &o, t, row, cell, at)
	case row.Estimate != "":
		err = estimateRate(ctx, &o, t, row.Estimate)
	case row.Untrained != "":
		var embed embedder
		if embed, err = untrained(ctx, row.Untrained, t); err == nil {
			err = errors.Join(r.measure(ctx, &o, embed, frozen(ctx), t), r.validate(ctx, &o, embed, t))
		}
	default:
		err = r.judge(ctx, &o, t, t.data.Train, audit.Options{Scorer: row.Judge, Whiten: true},
			audit.Auditor{Shared: r.shared(cell)})
	}
	o.Seconds += time.Since(start).Seconds()
	if row.Recipe == "" {
		o.Measures[seconds] = o.Seconds
	}
	return o, err
}

// frozen returns the features unchanged.
func frozen(ctx context.Context) embedder {
	return func(set features.Set) (features.Set, error) { return comparison.Frozen(ctx, set) }
}

// untrained returns the features unchanged, or whitened to the dimension that a head would have.
func untrained(ctx context.Context, how string, t training) (embedder, error) {
	if how == studies.Frozen {
		return frozen(ctx), nil
	}
	white, err := head.Whitening(ctx, t.data.Train, min(t.cfg.Head.Out, t.data.Train.Dim()), t.cfg.Head.Bias)
	if err != nil {
		return nil, err
	}
	return func(set features.Set) (features.Set, error) { return white.EmbedSet(ctx, set) }, nil
}

// validate records the validation measure of a row that is not trained, if the study's chart follows it over the steps.
func (r *reproduction) validate(ctx context.Context, o *studies.Outcome, embed embedder, t training) error {
	if !r.followsValidation() || t.data.Validation.Len() == 0 {
		return nil
	}
	score, err := t.data.Score(ctx, t.cfg.Validation.Measure,
		func(_ context.Context, set features.Set) (features.Set, error) { return embed(set) },
		func(_ context.Context, set features.Set) (features.Set, func() error, error) {
			z, err := embed(set)
			return z, func() error { return nil }, err
		})
	o.Traces = map[string]studies.Trace{validation: {X: []float64{0}, Y: []float64{score}}}
	return err
}

// embedding embeds images with a head on the network's present state.
func embedding(ctx context.Context, on *run.Training, h *head.Head) embedder {
	return func(set features.Set) (features.Set, error) {
		now, err := on.Now(ctx, set)
		if err != nil {
			return now, err
		}
		return h.EmbedSet(ctx, now)
	}
}

// encoding embeds images with the network's present state, without a head.
func encoding(ctx context.Context, on *run.Training) embedder {
	return func(set features.Set) (features.Set, error) {
		now, err := on.Now(ctx, set)
		if err != nil {
			return now, err
		}
		return comparison.Frozen(ctx, now)
	}
}

// train trains and measures a cell. A cell that trains a network keeps a checkpoint and resumes from it.
func (r *reproduction) train(ctx context.Context, o *studies.Outcome, t training, row studies.Row,
	cell studies.Cell, at func(share float64)) error {
	ranks := row.Judge == samples.SmallLoss || row.Judge == samples.Ensemble || row.Judge == samples.Forgetting
	last := r.Study.State == studies.Last
	if last && !r.followsValidation() && cell.Choice == 0 {
		t.data.Validation = features.Set{} // nothing depends on it
	}
	start := time.Now()
	on, dir, end, err := r.resolve(ctx, t, cell, ranks)
	if err != nil {
		return err
	}
	defer end()
	seen, err := r.follow(on.Plan, t.labels.data)
	if err != nil {
		return err
	}
	observers := []train.Observer{seen.observe, train.On(func(s train.Step) {
		at(0.99 * float64(s.Number) / float64(max(on.Steps, 1))) // measuring follows
	})}
	if t.cfg.Finetune.On() && dir != "" {
		keeps, err := seen.keep(dir, on.Resumed, start)
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
			err := r.measure(ctx, &last, embedding(ctx, on, ended.Last), encoding(ctx, on), t)
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
	o.Untrained = r.Study.State == studies.Best && out.BestStep == 0
	o.Steps, o.Settings = out.Step, config.Flatten(out.Config)
	if cell.Choice > 0 {
		if o.Score = out.BestScore; last {
			o.Score = out.LastScore
		}
	}
	seen.weighed(o)
	seen.end(o)
	if err := r.measure(ctx, o, embedding(ctx, on, out.Head), encoding(ctx, on), t); err != nil {
		return err
	}
	if t.cfg.Correct.On() && dir != "" {
		if err := corrections(o, dir, t); err != nil {
			return err
		}
	}
	switch {
	case row.Judge == "" && slices.Contains(r.Study.Measures, auroc):
		return auditOutcome(ctx, o, on, out, t)
	case row.Judge == "":
		return nil
	}
	z, err := embedding(ctx, on, out.Head)(t.data.Train)
	if err != nil {
		return err
	}
	if ranks {
		list, err := folder.ReadSamples(dir)
		if err != nil {
			return err
		}
		return r.judgeBySamples(ctx, o, t, z, list, row.Judge)
	}
	return r.judge(ctx, o, t, z, audit.Options{Scorer: row.Judge}, audit.Auditor{})
}
