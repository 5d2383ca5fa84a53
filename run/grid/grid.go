// Package grid runs many trainings, the cells of a study or a sweep, several at once. It keeps each outcome when it is
// done, so that a stopped program continues, estimates how long the others take, and shows the progress. The caller
// defines cells and outcomes.
package grid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"winnow/backbone/ort"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/regular"
	"winnow/internal/text"
	"winnow/run"
)

// Grid runs cells in their order. C is a cell, O its outcome.
type Grid[C comparable, O any] struct {
	Command   string // errors begin with it
	Dir       string // holds one JSON file for each outcome, written completely or not at all
	Cells     []C
	KeepGoing bool // a failed cell does not stop the others

	Key      func(C) string
	Whole    func(C, O) bool  // reports whether an outcome that was read is complete
	Describe func(C) string   // a cell in messages
	Headline func(O) string   // an outcome in messages
	Done     func(C, O) error // takes each outcome, one at a time; those of an earlier call come first

	// Train runs a cell. at shows the share of it that is done.
	Train func(ctx context.Context, cell C, at func(share float64)) (O, error)
	Clean func(C) error // removes what a cell left besides its outcome; may be nil

	// Kind names the cells that take equally long, and Time estimates one of them from a few steps; nil: the time of
	// cells is what they measure.
	Kind func(C) string
	Time func(context.Context, C) (Cost, error)

	// Resolve resolves the training of a cell if it trains a network; else it returns nil.
	Resolve func(context.Context, C) (*run.Training, error)
	// TrainsNetwork reports whether a cell trains a network.
	TrainsNetwork func(C) bool

	Machine
	Watch func(what string) (at func(done, total int), end func()) // shows the progress in percent; may be nil

	rt     *ort.Runtime
	atOnce int

	mu     sync.Mutex
	cells  int           // that the line of the progress is about
	shares map[C]float64 // done of each of them that has started
	at     func(done, total int)
	end    func() // nil: there is no line
}

// Cost is how long a cell takes.
type Cost struct {
	Steps   int // of its training; 0: none
	Seconds float64
	AtMost  bool // it may stop early
}

// nameOutcomeFile returns the file of a cell's outcome.
func (g *Grid[C, O]) nameOutcomeFile(cell C) string { return filepath.Join(g.Dir, g.Key(cell)+".json") }

// readOutcome returns the earlier outcome of a cell, if there is one. A damaged file is noted and counts as none.
func (g *Grid[C, O]) readOutcome(cell C) (o O, done bool, err error) {
	var none O
	content, err := regular.ReadFile(g.nameOutcomeFile(cell), regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return none, false, nil
	}
	if err != nil {
		return none, false, fmt.Errorf("%s: %w", g.Command, err)
	}
	if err := json.Unmarshal(content, &o); err != nil || !g.Whole(cell, o) {
		g.Say("%s: %s: holds no outcome of a cell: it is run again", g.Command, g.nameOutcomeFile(cell))
		return none, false, nil
	}
	return o, true, nil
}

// keepOutcome writes the outcome of a cell.
func (g *Grid[C, O]) keepOutcome(cell C, o O) error {
	return atomicfile.Write(g.nameOutcomeFile(cell), func(w io.Writer) error { return text.JSON(w, o) })
}

// Hold makes the folder of the outcomes, checks that files can be written there before hours are spent on a cell, and
// locks a folder: two programs would run the same cells and overwrite each other's tables.
func (g *Grid[C, O]) Hold(dir string) (io.Closer, error) {
	for _, made := range []string{g.Dir, dir} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Command, err)
		}
	}
	probe, err := os.CreateTemp(g.Dir, ".probe-*")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.Command, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Command, err)
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s: %w", g.Command, err),
			"wait for it: cells that are done are kept; or choose another folder")
	}
	return held, nil
}

// Runtime returns the opened runtime.
func (g *Grid[C, O]) Runtime() (*ort.Runtime, error) { return g.rt, nil }

// Start opens the runtime and decides how many cells run at once. The caller closes the grid.
func (g *Grid[C, O]) Start(ctx context.Context) (err error) {
	networks, first := 0, *new(C)
	for _, cell := range g.Cells {
		if !g.TrainsNetwork(cell) {
			continue
		}
		if _, done, err := g.readOutcome(cell); done || err != nil {
			continue
		}
		if networks++; networks == 1 {
			first = cell
		}
	}
	g.rt, g.atOnce, err = g.Machine.startRuntime(ctx, networks, func(rt *ort.Runtime) (*run.Training, error) {
		g.rt = rt
		return g.Resolve(ctx, first)
	})
	return err
}

// Close closes the runtime.
func (g *Grid[C, O]) Close() error {
	if g.rt == nil {
		return nil
	}
	return g.rt.Close()
}

// Failure is a cell that failed.
type Failure[C any] struct {
	Cell C
	Err  error
}

// ended is a cell that ended.
type ended[O any] struct {
	at      int
	outcome O
	took    time.Duration
	err     error
}

// Run runs the cells that are not done, and returns those that failed, in order. Without KeepGoing the first failure
// stops the others and is the error.
func (g *Grid[C, O]) Run(ctx context.Context) (failures []Failure[C], err error) {
	rest, err := g.takeEarlier()
	if err != nil {
		return nil, err
	}
	if g.cells, g.shares = len(rest), map[C]float64{}; g.Watch != nil {
		g.at, g.end = g.Watch("percent")
		defer func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.end()
			g.at, g.end = nil, nil
		}()
	}
	g.Say("%d cells, %d done before, %d at once", len(g.Cells), len(g.Cells)-len(rest), g.atOnce)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	found, failed := g.runRest(ctx, rest)
	start, n := time.Now(), 0
	var bad []ended[O]
	var broken error
	for d := range found {
		n++
		left := (time.Since(start) / time.Duration(n) * time.Duration(len(rest)-n)).Round(time.Second)
		if d.err != nil {
			bad = append(bad, d)
			g.Say("%d/%d  failed: %v, %s left", n, len(rest), d.err, left)
			continue
		}
		if err := g.Done(rest[d.at], d.outcome); err != nil {
			broken = cmp.Or(broken, err)
			stop()
			continue
		}
		g.showShare(rest[d.at], 1)
		g.Say("%d/%d  %s: %s in %.1f s, %s left", n, len(rest), g.Describe(rest[d.at]), g.Headline(d.outcome),
			d.took.Seconds(), left)
	}
	slices.SortFunc(bad, func(a, b ended[O]) int { return a.at - b.at })
	for _, d := range bad {
		failures = append(failures, Failure[C]{rest[d.at], d.err})
	}
	return failures, cmp.Or(broken, <-failed, ctx.Err())
}

// runRest runs cells, and returns channels of their ends and of the first failure that stops the others.
func (g *Grid[C, O]) runRest(ctx context.Context, rest []C) (found chan ended[O], failed chan error) {
	found, failed = make(chan ended[O]), make(chan error, 1)
	go func() {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(g.atOnce)
		for i, cell := range rest {
			group.Go(func() error {
				if ctx.Err() != nil {
					return nil
				}
				start := time.Now()
				o, err := g.runCell(ctx, cell)
				if err != nil {
					err = fmt.Errorf("%s: %w", g.Describe(cell), err)
					if !g.KeepGoing || ctx.Err() != nil {
						return err
					}
				}
				found <- ended[O]{i, o, time.Since(start), err}
				return nil
			})
		}
		failed <- group.Wait()
		close(found)
	}()
	return found, failed
}

// runCell runs a cell and keeps its outcome.
func (g *Grid[C, O]) runCell(ctx context.Context, cell C) (o O, err error) {
	o, err = g.Train(ctx, cell, func(share float64) { g.showShare(cell, share) })
	if err == nil {
		err = g.keepOutcome(cell, o)
	}
	if err == nil && g.Clean != nil {
		err = g.Clean(cell)
	}
	return o, err
}

// takeEarlier passes earlier outcomes to Done, and returns the other cells.
func (g *Grid[C, O]) takeEarlier() (rest []C, err error) {
	for _, cell := range g.Cells {
		o, done, err := g.readOutcome(cell)
		if err != nil {
			return nil, err
		}
		if !done {
			rest = append(rest, cell)
			continue
		}
		if err := g.Done(cell, o); err != nil {
			return nil, err
		}
		if g.Clean != nil { // left if the program was killed before it could
			if err := g.Clean(cell); err != nil {
				return nil, err
			}
		}
	}
	return rest, nil
}

// showShare records how much of a cell is done, as a share of 1, and shows the progress of all cells.
func (g *Grid[C, O]) showShare(cell C, share float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at == nil {
		return
	}
	g.shares[cell] = share
	sum := 0.0
	for _, s := range g.shares {
		sum += s
	}
	g.at(int(100*sum/float64(g.cells)), 100)
}

// Say takes a note; it ends the line of the progress first.
func (g *Grid[C, O]) Say(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.end != nil {
		g.end()
	}
	g.Note(format, args...)
}
