package runner

import (
	"context"
	"time"

	"winnow/features"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/grid"
)

// Numbers of training steps in an estimate. The first steps warm up and are not timed.
const (
	warmUp        = 5
	estimateSteps = 30
)

// estimateCell estimates a cell's cost from a few steps and one measurement. It fully runs a cell without a training.
func (r *reproduction) estimateCell(ctx context.Context, cell studies.Cell) (cost grid.Cost, err error) {
	if r.Study.Rows[cell.Row].Recipe == "" {
		o, err := r.runCell(ctx, cell, func(float64) {})
		return grid.Cost{Seconds: o.Seconds}, err
	}
	r.Host.Note("timing %d steps of %s", estimateSteps, r.Study.Rows[cell.Row].Name)
	t, on, err := r.resolveBrief(ctx, cell)
	if err != nil {
		return cost, err
	}
	defer on.Close()
	timed, err := on.Time(ctx, warmUp, estimateSteps)
	if err != nil {
		return cost, err
	}
	start, o := time.Now(), studies.Outcome{Measures: map[string]float64{}, Seed: cell.Seed}
	err = r.measureCell(ctx, &o, newHeadEmbedder(ctx, on, timed.Outcome.Head), newNetworkEmbedder(ctx, on), t)
	each := time.Duration(on.Steps)*timed.Each() + time.Since(start)
	return grid.Cost{Steps: on.Steps, Seconds: each.Seconds()}, err
}

// resolveBrief resolves a cell's training for running only some of its steps, without validation and without a folder.
func (r *reproduction) resolveBrief(ctx context.Context, cell studies.Cell) (
	t training, on *run.Training, err error) {
	if t, err = r.prepareCell(ctx, cell); err != nil {
		return t, nil, err
	}
	t.data.Validation = features.Set{}
	on, err = run.Resolve(ctx, t.cfg, run.Input{Data: &t.data}, r.newTrainingOptions())
	return t, on, err
}
