package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"winnow/features"
	"winnow/papers/studies"
	"winnow/run"
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
	first := map[int]studies.Cell{}
	for _, cell := range r.cells {
		at := &rows[cell.Row]
		at.cells++
		o, done, err := r.kept(cell)
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
	jobs, _ := r.jobs()
	plan := planned{Study: r.study.Name, Jobs: jobs}
	for i, row := range r.study.Rows {
		at := rows[i]
		if at.cells == 0 {
			continue
		}
		p := plannedRow{Row: row.Name, Cells: at.cells, Done: at.done}
		if cell, ok := first[i]; ok {
			note(r.c, "timing %d steps of %s", drySteps, row.Name)
			if p.Steps, at.each, err = r.estimate(cell); err != nil {
				return fmt.Errorf("%s: %w", r.describe(cell), err)
			}
		}
		p.Each = at.each.Seconds()
		plan.Rows = append(plan.Rows, p)
		plan.Cells, plan.Left = plan.Cells+p.Cells, plan.Left+p.Cells-p.Done
		plan.Seconds += p.Each * float64(p.Cells-p.Done) / float64(jobs)
	}
	if r.c.Bool("json") {
		return printJSON(r.c.App.Writer, plan)
	}
	return plan.write(r.c.App.Writer)
}

// planned is what a dry run finds out.
type planned struct {
	Study   string       `json:"study"`
	Jobs    int          `json:"jobs"` // cells at once
	Cells   int          `json:"cells"`
	Left    int          `json:"left"`    // cells that are not done
	Seconds float64      `json:"seconds"` // that these will take
	Rows    []plannedRow `json:"rows"`
}

type plannedRow struct {
	Row   string  `json:"row"`
	Cells int     `json:"cells"`
	Done  int     `json:"done"`
	Steps int     `json:"steps,omitempty"` // of a training; none where all are done
	Each  float64 `json:"seconds_each"`
}

// write prints the plan for people.
func (p planned) write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "cells\tdone\tsteps\teach\tleft\t  row\n")
	for _, row := range p.Rows {
		steps, each := "–", time.Duration(row.Each*float64(time.Second))
		if row.Steps > 0 {
			steps = fmt.Sprint(row.Steps)
		}
		rest := each * time.Duration(row.Cells-row.Done)
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t  %s\n", row.Cells, row.Done, steps, each.Round(100*time.Millisecond), rest.Round(time.Second), row.Row)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	all := time.Duration(p.Seconds * float64(time.Second)).Round(time.Second)
	_, err := fmt.Fprintf(to, "%d of %d cells left to run: about %s, %d at once\n", p.Left, p.Cells, all, p.Jobs)
	return err
}

// errEnough stops a training that was only timed.
var errEnough = errors.New("timed")

// estimate is the length of a cell's training and the time of the whole cell, from a few steps of it and one
// measurement.
func (r *reproduction) estimate(cell studies.Cell) (steps int, each time.Duration, err error) {
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
	joined, err := run.Join(labels.data, data.store)
	if err != nil {
		return 0, 0, err
	}
	joined.Validation = features.Set{}
	fitBank(&cfg, joined)
	ctx, stop := context.WithCancelCause(r.c.Context)
	defer stop(nil)
	var start, end time.Time
	n := 0
	out, err := run.Run(ctx, cfg, joined, run.Options{
		Begun: func(p run.Plan) error { steps = p.Steps; return nil },
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
	o := studies.Outcome{Measures: map[string]float64{}, Seed: cell.Seed}
	if err := r.measure(r.c.Context, &o, out, labels.data, data.store); err != nil {
		return 0, 0, err
	}
	return steps, each + time.Since(start), nil
}
