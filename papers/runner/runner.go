// Package runner runs the papers' tables and figures (papers/studies): it trains a head for each cell on stored features,
// measures it, keeps what came of it, and writes the tables.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"winnow/audit"
	"winnow/backbone/ort"
	"winnow/extraction"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/papers/studies"
)

// Options say what is run, on what, and where it is kept.
type Options struct {
	Study   studies.Study
	Data    []Source
	Glyphs  *Glyphs  // instead of Data
	Dir     string   // for the cells and the results
	Seeds   []uint64 // none: 1 to the study's number
	Rows    []string // parts of the names of the rows that are run; none: all
	Columns []string // and of the columns
	Set     []string // settings of every training, [ROW:]KEY=VALUE
	Jobs    int      // cells at once; 0: one a thread
	Threads int      // of all together; 0: one a core
	Winnow  string   // its version, for the outcomes

	Host    extraction.Host                                          // makes the features of Glyphs, and takes notes
	Watch   func(what string) (at func(done, total int), end func()) // shows how far the cells are, in percent; may be nil
	Runtime func(threads int) (*ort.Runtime, error)                  // opens what computes, for so many threads a product
}

// share returns how many cells run at once, and on how many threads each computes.
func (o Options) share() (jobs, threads int) {
	all := cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	if jobs = o.Jobs; jobs < 1 || jobs > all {
		jobs = all
	}
	return jobs, max(all/jobs, 1)
}

// reproduction is one run of a study.
type reproduction struct {
	Options
	data    map[string]*data // by the paper's name, and by name and seed
	standIn *data            // for every name; nil where they are given by name
	store   studies.Store
	cells   []studies.Cell // all that are wanted, in the order they are run
	results *studies.Results
	rt      *ort.Runtime

	line     *line
	sharing  sync.Mutex
	shares   *audit.Shared // by the judges of the last column and seed
	sharesOf [2]uint64
}

// open reads the data and lists the cells.
func open(ctx context.Context, o Options) (*reproduction, error) {
	o.Host = o.Host.Complete()
	if o.Watch == nil {
		o.Watch = func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }
	}
	r := &reproduction{Options: o, store: studies.Store{Dir: filepath.Join(o.Dir, "cells")}}
	if err := r.openData(ctx); err != nil {
		return nil, err
	}
	return r, r.plan()
}

// Run trains and measures every cell that is not done yet, several at once, and writes report.txt, report.md, report.html
// and results.csv into the study's folder below Options.Dir.
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
		return nil, errors.Join(err, r.write()) // what is done is worth a table
	}
	return r.results, r.write()
}

func (r *reproduction) run(ctx context.Context) error {
	jobs, threads := r.share()
	rt, err := r.Runtime(threads)
	if err != nil {
		return err
	}
	defer rt.Close()
	r.rt = rt
	var rest []studies.Cell
	for _, cell := range r.cells {
		o, done, err := r.kept(cell)
		if err != nil {
			return err
		}
		if done {
			r.results.Add(cell, o)
		} else {
			rest = append(rest, cell)
		}
	}
	r.Host.Note("%d cells, %d done before, %d at once", len(r.cells), len(r.cells)-len(rest), jobs)
	r.line = newLine(len(rest), r.Watch)
	defer r.line.finish()
	type done struct {
		cell    studies.Cell
		outcome studies.Outcome
	}
	found, failed := make(chan done), make(chan error, 1)
	go func() {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(jobs)
		for _, cell := range rest {
			g.Go(func() error {
				if ctx.Err() != nil {
					return nil
				}
				o, err := r.cell(ctx, cell)
				if err != nil {
					return fmt.Errorf("%s: %w", r.describe(cell), err)
				}
				if err := r.store.Put(cell.Key, o); err != nil {
					return err
				}
				found <- done{cell, o}
				return nil
			})
		}
		failed <- g.Wait()
		close(found)
	}()
	n := 0
	for d := range found {
		r.results.Add(d.cell, d.outcome)
		n++
		r.line.at(d.cell, 1)
		r.line.say(func() {
			r.Host.Note("%d/%d  %s: %s in %.1f s", n, len(rest), r.describe(d.cell), r.headline(d.outcome), d.outcome.Seconds)
		})
	}
	if err := <-failed; err != nil {
		return err
	}
	return ctx.Err()
}

// kept returns what came of a cell before, if it was run. A damaged file counts for none: the cell is run again.
func (r *reproduction) kept(cell studies.Cell) (studies.Outcome, bool, error) {
	o, done, err := r.store.Get(cell.Key)
	if errors.Is(err, studies.ErrDamaged) {
		r.Host.Note("%v: it is run again", err)
		return o, false, nil
	}
	return o, done, err
}

// headline returns a cell's first measure.
func (r *reproduction) headline(o studies.Outcome) string {
	m := r.Study.Measures[0]
	return fmt.Sprintf("%s %.4f", m, o.Measures[m])
}

func (r *reproduction) describe(cell studies.Cell) string {
	return fmt.Sprintf("%s, %s, seed %d", r.Study.Rows[cell.Row].Name, r.Study.Columns[cell.Column].Name, cell.Seed)
}

// hold makes the folders and holds the study's: two programs would run the same cells, and write over each other's tables.
func (r *reproduction) hold() (io.Closer, error) {
	if err := r.store.Prepare(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.folder(), 0o755); err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	held, err := lock.Folder(r.folder())
	if err != nil {
		return nil, hint.With(fmt.Errorf("reproduce: %w", err), "wait for it: cells that are done are kept; or choose another --out")
	}
	return held, nil
}

// folder is where the tables of the study go. Cells are shared by studies, and each is written whole.
func (r *reproduction) folder() string { return filepath.Join(r.Dir, r.Study.Name) }

// write writes the results beside each other.
func (r *reproduction) write() error {
	if r.results.Len() == 0 {
		return nil
	}
	dir := r.folder()
	for _, f := range []struct {
		name string
		to   func(io.Writer) error
	}{
		{"report.txt", r.results.Text}, {"report.md", r.results.Markdown}, {"results.csv", r.results.CSV}, {"report.html", r.results.HTML},
	} {
		if err := atomicfile.Write(filepath.Join(dir, f.name), f.to); err != nil {
			return err
		}
	}
	r.Host.Note("written to %s: report.txt, report.md, report.html, results.csv", dir)
	return nil
}
