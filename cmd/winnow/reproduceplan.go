package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"winnow/features"
	"winnow/reproduce"
	"winnow/train"
)

// Steps of a training that a dry run makes: the first ones warm up, the others are timed.
const (
	dryWarmUp = 5
	drySteps  = 30
)

// printPlan lists what would be run, and how long it takes as far as a few steps of each row tell.
func (r *reproduction) printPlan() error {
	_, threads := r.jobs()
	rt, err := openRuntimeThreads(r.c, threads)
	if err != nil {
		return err
	}
	defer rt.Close()
	type line struct {
		cells, done int
		each        time.Duration
	}
	rows := make([]line, len(r.study.Rows))
	first := map[int]reproduce.Cell{}
	for _, cell := range r.cells {
		at := &rows[cell.Row]
		at.cells++
		o, done, err := r.store.Get(cell.Key)
		if err != nil {
			return err
		}
		if done {
			at.done++
			at.each = time.Duration(o.Seconds * float64(time.Second))
		} else if _, there := first[cell.Row]; !there {
			first[cell.Row] = cell
		}
	}
	w := tabwriter.NewWriter(r.c.App.Writer, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "cells\tdone\tsteps\teach\tleft\t  row\n")
	var total time.Duration
	cells, left := 0, 0
	for i, row := range r.study.Rows {
		at := rows[i]
		if at.cells == 0 {
			continue
		}
		steps := "–"
		if cell, ok := first[i]; ok {
			note(r.c, "timing %d steps of %s", drySteps, row.Name)
			n, each, err := r.estimate(cell)
			if err != nil {
				return fmt.Errorf("%s: %w", r.describe(cell), err)
			}
			at.each, steps = each, fmt.Sprint(n)
		}
		rest := at.each * time.Duration(at.cells-at.done)
		total += rest
		cells, left = cells+at.cells, left+at.cells-at.done
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t  %s\n", at.cells, at.done, steps, at.each.Round(100*time.Millisecond), rest.Round(time.Second), row.Name)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	jobs, _ := r.jobs()
	_, err = fmt.Fprintf(r.c.App.Writer, "%d of %d cells left to run: about %s, %d at once\n", left, cells, (total / time.Duration(jobs)).Round(time.Second), jobs)
	return err
}

// errEnough stops a training that was only timed.
var errEnough = errors.New("timed")

// estimate is the length of a cell's training and the time of the whole cell, from a few steps of it and one
// measurement.
func (r *reproduction) estimate(cell reproduce.Cell) (steps int, each time.Duration, err error) {
	row, column := r.study.Rows[cell.Row], r.study.Columns[cell.Column]
	data := r.data.of(column)
	cfg, err := r.config(cell)
	if err != nil {
		return 0, 0, err
	}
	labels, err := data.as(r.c.Context, row.Labels, column, cell.Seed)
	if err != nil {
		return 0, 0, err
	}
	joined, err := joinTrainData(labels.data, data.store)
	if err != nil {
		return 0, 0, err
	}
	joined.Validation = features.Set{}
	fitBank(&cfg, joined)
	ctx, stop := context.WithCancelCause(r.c.Context)
	defer stop(nil)
	var start, end time.Time
	n := 0
	out, err := trainRun(ctx, cfg, joined, trainOptions{
		Begun: func(p trainPlan) error { steps = p.Steps; return nil },
		Stepped: func(train.Step) {
			if n++; n == dryWarmUp {
				start = time.Now()
			}
			if end = time.Now(); n == dryWarmUp+drySteps {
				stop(errEnough)
			}
		},
	})
	if err != nil && context.Cause(ctx) != errEnough {
		return 0, 0, err
	}
	each = end.Sub(start) / time.Duration(max(n-dryWarmUp, 1)) * time.Duration(steps)
	start = time.Now()
	o := reproduce.Outcome{Measures: map[string]float64{}, Seed: cell.Seed}
	if err := r.measure(r.c.Context, &o, out, labels.data, data.store); err != nil {
		return 0, 0, err
	}
	return steps, each + time.Since(start), nil
}
