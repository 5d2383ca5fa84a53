// Package runner runs the papers' tables and figures (papers/studies): for each cell it trains a head on stored
// features, or a whole network, measures it and stores the outcome; then it writes the tables. A finished cell is not
// run again. A cell that trains a network keeps checkpoints; if it is killed, it resumes and ends with the same bits.
package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"winnow/audit"
	"winnow/backbone/ort"
	"winnow/datasets/location"
	"winnow/internal/atomicfile"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/cells"
	"winnow/run/extraction"
)

// Options say what to run, on which data, and where to store the results.
type Options struct {
	Study   studies.Study
	Data    []Source
	Glyphs  *Glyphs  // instead of Data
	Dir     string   // for the cells and the results
	Seeds   []uint64 // none: 1 to the study's number
	Rows    []string // parts of the names of the rows to run; none: all
	Columns []string // parts of the names of the columns to run; none: all
	Set     []string // settings of every training, [ROW:]KEY=VALUE

	// Finetune is the part of the network that every row with a recipe trains, as finetune.weights names it; "": as the
	// row says.
	Finetune string
	// Model is the network to train, which also makes the features that a source does not name; "": the network that
	// made the features. {seed} in it stands for the seed.
	Model   string
	Root    location.Source // of the images of sources that name none
	Jobs    int             // cells at once, as [cells.Machine] takes it
	Threads int             // of all jobs together; 0: one for each core
	Winnow  string          // version of winnow, for the outcomes
	// Budget is how long the run may take by its own estimate: it leaves out cells that tell least. 0: no limit
	Budget time.Duration
	// Advice ends the line that says how long a long run takes.
	Advice string

	Host    extraction.Host                                          // makes the features of Glyphs, and takes notes
	Watch   func(what string) (at func(done, total int), end func()) // shows the progress in percent; may be nil
	Runtime func(threads int) (*ort.Runtime, error)                  // opens ONNX Runtime with this many threads
}

// reproduction is one run of a study.
type reproduction struct {
	Options
	data    map[string]*data // by the paper's name, and by name and seed
	standIn *data            // for every name; nil if data are given by name
	store   cells.Store[studies.Outcome]
	cells   []studies.Cell // the wanted ones, in the order in which they run
	results *studies.Results
	rt      *ort.Runtime

	line     *line
	told     sync.Map // notes of trainings
	sharing  sync.Mutex
	drawing  sync.Mutex
	columns  map[[2]uint64]drawnColumn // of a study without data, by column and seed
	shares   *audit.Shared             // by the judges of the last column and seed
	sharesOf [2]uint64
}

// open reads the data and lists the cells.
func open(ctx context.Context, o Options) (*reproduction, error) {
	o.Host = o.Host.Complete()
	if o.Watch == nil {
		o.Watch = func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }
	}
	r := &reproduction{Options: o, store: newStore(o.Dir)}
	var err error
	if r.Rows, err = namesOf("row", r.Study.Name, r.Rows, r.Study.RowNames()); err != nil {
		return nil, err
	}
	if r.Columns, err = namesOf("column", r.Study.Name, r.Columns, r.Study.ColumnNames()); err != nil {
		return nil, err
	}
	if err := r.openData(ctx); err != nil {
		return nil, err
	}
	if err := r.openPictures(ctx); err != nil {
		return nil, err
	}
	return r, r.plan()
}

// Run trains and measures every cell that is not done yet, several at once. It writes report.txt, report.md,
// report.html and results.csv to the study's folder below Options.Dir.
func Run(ctx context.Context, o Options) (*studies.Results, error) {
	r, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	held, err := r.hold()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	if err := r.run(ctx); err != nil {
		return nil, errors.Join(err, r.write(ctx)) // the finished cells are worth a table
	}
	return r.results, r.write(ctx)
}

// options returns the options of every training: its products are computed by the reproduction's runtime.
func (r *reproduction) options() run.Options {
	o := run.Options{Host: r.Host}
	o.Host.Runtime = func() (*ort.Runtime, error) { return r.rt, nil }
	o.Host.Note = func(format string, args ...any) { // once, not for every cell
		if _, told := r.told.LoadOrStore(fmt.Sprintf(format, args...), true); !told {
			r.say(format, args...)
		}
	}
	return o
}

func (r *reproduction) run(ctx context.Context) error {
	jobs, err := r.start(ctx)
	if err != nil {
		return err
	}
	defer func() { r.rt.Close() }()
	if r.Budget > 0 {
		plan, err := r.estimateAll(ctx, jobs)
		if err != nil {
			return err
		}
		var fits *Within
		if r.cells, fits, err = r.within(plan); err != nil {
			return err
		}
		r.Host.Note("%s", fits)
	} else if err := r.announce(ctx, jobs); err != nil {
		return err
	}
	queue := r.queue(jobs)
	queue.Begun = func(rest int) { r.line = newLine(rest, r.Watch) }
	queue.Note = r.say
	_, err = queue.Go(ctx)
	if r.line != nil {
		r.line.finish()
	}
	return err
}

// start opens the runtime and returns how many cells run at once: one on all threads if steps are timed.
func (r *reproduction) start(ctx context.Context) (jobs int, err error) {
	m := cells.Machine{Jobs: r.Jobs, Threads: r.Threads, Runtime: r.Runtime, Note: r.Host.Note}
	if r.timesSteps() {
		m.Jobs = 1
	}
	networks, first, err := r.networks()
	if err != nil {
		return 0, err
	}
	r.rt, jobs, err = m.Start(ctx, networks, func(rt *ort.Runtime) (*run.Training, error) {
		r.rt = rt
		_, on, err := r.brief(ctx, first)
		return on, err
	})
	return jobs, err
}

// networks returns how many of the cells that are left train a network, and the first of them.
func (r *reproduction) networks() (n int, first studies.Cell, err error) {
	for _, cell := range r.cells {
		_, done, err := r.store.Get(cell.Key)
		if done && err == nil || r.Study.Drawn() || r.Study.Rows[cell.Row].Recipe == "" {
			continue
		}
		cfg, err := r.config(cell)
		if err != nil {
			return 0, first, err
		}
		if !cfg.Finetune.On() {
			continue
		}
		if n++; n == 1 {
			first = cell
		}
	}
	return n, first, nil
}

// queue returns the queue that runs the cells.
func (r *reproduction) queue(jobs int) cells.Queue[studies.Cell, studies.Outcome] {
	return cells.Queue[studies.Cell, studies.Outcome]{
		Cells: r.cells, Jobs: jobs,
		Kept: func(cell studies.Cell) (studies.Outcome, bool, error) { return r.store.Get(cell.Key) },
		Run: func(ctx context.Context, cell studies.Cell) (studies.Outcome, error) {
			o, err := r.cell(ctx, cell)
			if err == nil {
				err = r.store.Put(cell.Key, o)
			}
			if err == nil {
				err = os.RemoveAll(r.cellDir(cell.Key))
			}
			return o, err
		},
		Done: func(cell studies.Cell, o studies.Outcome, before bool) error {
			r.results.Add(cell, o)
			if !before {
				r.line.at(cell, 1)
				return nil
			}
			return os.RemoveAll(r.cellDir(cell.Key)) // left if the program was killed between Put and RemoveAll
		},
		Describe: r.describe, Headline: r.headline, Note: r.Host.Note,
	}
}

// headline returns a cell's first measure.
func (r *reproduction) headline(o studies.Outcome) string {
	m := r.Study.Measures[0]
	return fmt.Sprintf("%s %.4f", m, o.Measures[m])
}

func (r *reproduction) describe(cell studies.Cell) string {
	row, with := r.Study.Rows[cell.Row], ""
	if cell.Choice > 0 {
		with = ", " + strings.Join(r.Study.Choices(row)[cell.Choice-1], " ")
	}
	return fmt.Sprintf("%s, %s, seed %d%s", row.Name, r.Study.Columns[cell.Column].Name, cell.Seed, with)
}

// newStore returns the store of all studies' cells below a folder.
func newStore(dir string) cells.Store[studies.Outcome] {
	return cells.Store[studies.Outcome]{
		Dir: filepath.Join(dir, "cells"), For: "reproduce", Whole: studies.Outcome.Whole,
	}
}

// hold makes the folders and locks the study's.
func (r *reproduction) hold() (io.Closer, error) {
	if err := r.store.Prepare(); err != nil {
		return nil, err
	}
	return cells.Hold(r.folder(), "reproduce")
}

// folder returns the folder of the study's tables. The cells are in another one, which all studies share.
func (r *reproduction) folder() string { return filepath.Join(r.Dir, r.Study.Name) }

// write writes the results in all forms.
func (r *reproduction) write(ctx context.Context) error {
	if r.results.Len() == 0 {
		return nil
	}
	r.readPictures(ctx)
	dir := r.folder()
	if err := atomicfile.WriteAll(dir, map[string]func(io.Writer) error{"report.txt": r.results.Text,
		"report.md": r.results.Markdown, "results.csv": r.results.CSV, "report.html": r.results.HTML}); err != nil {
		return err
	}
	r.Host.Note("written to %s: report.txt, report.md, report.html, results.csv", dir)
	return nil
}
