// Package runner reproduces the papers' tables and figures (papers/studies). For each cell it trains a head on stored
// features, or a whole network, measures it and stores the outcome. Then it writes the tables. It does not run a
// finished cell again. A cell that trains a network keeps checkpoints, so that a killed cell resumes and ends with the
// same bits.
package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"winnow/backbone/ort"
	"winnow/datasets/location"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/extraction"
	"winnow/run/grid"
)

// Options select the study's cells to run, their data, and the folder of the results.
type Options struct {
	Study   studies.Study
	Data    []Source
	Dir     string   // for the cells and the results
	Seeds   []uint64 // none: 1 to the study's number of seeds
	Rows    []string // parts of the names of the rows to run; none: all
	Columns []string // parts of the names of the columns to run; none: all
	Set     []string // settings of every training, [ROW:]KEY=VALUE

	// Finetune is a value of finetune.weights, the part of the network that every row with a recipe trains. "" leaves
	// the choice to the row's settings.
	Finetune string
	Root     location.Source                                          // location of the images of sources without one
	Jobs     int                                                      // number of parallel cells, see [grid.Machine]
	Threads  int                                                      // for all jobs together; 0: one per core
	Winnow   string                                                   // version of winnow, for the outcomes
	Host     extraction.Host                                          // used by the trainings
	Watch    func(what string) (at func(done, total int), end func()) // shows the progress in percent; may be nil
	Runtime  func(threads int) (*ort.Runtime, error)                  // opens ONNX Runtime with this many threads
}

// reproduction is one run of a study.
type reproduction struct {
	Options
	data    map[string]*data // by name in the paper, and by name and seed
	standIn *data            // replaces all datasets; nil if data are given by name
	grid    grid.Grid[studies.Cell, studies.Outcome]
	results *studies.Results

	noted sync.Map // notes of trainings that have been printed
}

// openReproduction reads the data and lists the cells.
func openReproduction(ctx context.Context, o Options) (*reproduction, error) {
	o.Host = o.Host.Complete()
	r := &reproduction{Options: o}
	var err error
	if r.Rows, err = findNames("row", r.Study.Name, r.Rows, r.Study.RowNames()); err != nil {
		return nil, err
	}
	if r.Columns, err = findNames("column", r.Study.Name, r.Columns, r.Study.ColumnNames()); err != nil {
		return nil, err
	}
	if err := r.openData(ctx); err != nil {
		return nil, err
	}
	r.openGrid()
	return r, r.listCells()
}

// openGrid sets up the grid that runs the cells.
func (r *reproduction) openGrid() {
	m := grid.Machine{Jobs: r.Jobs, Threads: r.Threads, Open: r.Runtime, Note: r.Host.Note}
	if r.timesSteps() {
		m.Jobs = 1 // one cell at a time uses all threads
	}
	r.grid = grid.Grid[studies.Cell, studies.Outcome]{
		Command: "reproduce", Dir: filepath.Join(r.Dir, "cells"), Machine: m, Watch: r.Watch,
		Key:           func(cell studies.Cell) string { return cell.Key },
		Whole:         func(_ studies.Cell, o studies.Outcome) bool { return o.Whole() },
		Describe:      r.describeCell,
		Headline:      r.formatHeadline,
		Done:          func(cell studies.Cell, o studies.Outcome) error { r.results.Add(cell, o); return nil },
		Train:         r.runCell,
		Clean:         func(cell studies.Cell) error { return os.RemoveAll(r.cellDir(cell.Key)) },
		Kind:          func(cell studies.Cell) string { return r.Study.Rows[cell.Row].Name },
		Time:          r.estimateCell,
		TrainsNetwork: r.trainsNetwork,
		Resolve: func(ctx context.Context, cell studies.Cell) (*run.Training, error) {
			_, on, err := r.resolveBrief(ctx, cell)
			return on, err
		},
	}
	if r.timesSteps() {
		r.grid.Time = nil
	}
}

// Plan lists the cells that [Run] would run, and estimates the time from a few steps of each row.
func Plan(ctx context.Context, o Options) (plan grid.Plan, err error) {
	r, err := openReproduction(ctx, o)
	if err != nil {
		return plan, err
	}
	if !r.timesSteps() {
		defer func() { err = errors.Join(err, r.grid.Close()) }()
		if err := r.grid.Start(ctx); err != nil {
			return plan, err
		}
	}
	return r.grid.Plan(ctx)
}

// Run trains and measures every unfinished cell, several in parallel. It writes report.md, report.html and results.csv
// to the study's folder in Options.Dir.
func Run(ctx context.Context, o Options) (results *studies.Results, err error) {
	r, err := openReproduction(ctx, o)
	if err != nil {
		return nil, err
	}
	held, err := r.grid.Hold(r.nameTablesFolder())
	if err != nil {
		return nil, err
	}
	defer held.Close()
	defer func() { err = errors.Join(err, r.grid.Close()) }()
	if err := r.grid.Start(ctx); err != nil {
		return nil, err
	}
	if _, err := r.grid.Run(ctx); err != nil {
		return nil, errors.Join(err, r.writeResults(ctx)) // write the tables of the finished cells
	}
	return r.results, r.writeResults(ctx)
}

// newTrainingOptions returns the options of every training. The grid's ONNX Runtime computes the matrix products.
func (r *reproduction) newTrainingOptions() run.Options {
	o := run.Options{Host: r.Host}
	o.Host.Runtime = r.grid.Runtime
	o.Host.Note = func(format string, args ...any) { // prints each note once, not for every cell
		if _, noted := r.noted.LoadOrStore(fmt.Sprintf(format, args...), true); !noted {
			r.grid.Say(format, args...)
		}
	}
	return o
}

func (r *reproduction) trainsNetwork(cell studies.Cell) bool {
	if r.Study.Drawn() || r.Study.Rows[cell.Row].Recipe == "" {
		return false
	}
	cfg, err := r.resolveCellConfig(cell) // listCells has checked the configuration
	return err == nil && cfg.Finetune.On()
}

// formatHeadline returns a cell's first measure as text.
func (r *reproduction) formatHeadline(o studies.Outcome) string {
	m := r.Study.Measures[0]
	return fmt.Sprintf("%s %.4f", m, o.Measures[m])
}

func (r *reproduction) describeCell(cell studies.Cell) string {
	row, with := r.Study.Rows[cell.Row], ""
	if cell.Choice > 0 {
		with = ", " + strings.Join(r.Study.Choices(row)[cell.Choice-1], " ")
	}
	return fmt.Sprintf("%s, %s, seed %d%s", row.Name, r.Study.Columns[cell.Column].Name, cell.Seed, with)
}

// nameTablesFolder returns the folder of the study's tables. The cells are in another folder, which all studies share.
func (r *reproduction) nameTablesFolder() string { return filepath.Join(r.Dir, r.Study.Name) }

// writeResults writes the results in all formats.
func (r *reproduction) writeResults(ctx context.Context) error {
	if r.results.Len() == 0 {
		return nil
	}
	if err := r.results.Write(r.nameTablesFolder()); err != nil {
		return err
	}
	r.Host.Note("written to %s: report.md, report.html, results.csv", r.nameTablesFolder())
	return nil
}
