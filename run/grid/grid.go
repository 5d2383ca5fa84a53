// Package grid runs many trainings, the cells of a study or a sweep, several at once. It stores each outcome when its
// cell is done, so that a stopped program can continue. It also estimates the remaining time and shows the progress.
// The caller defines cells and outcomes.
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
	Command   string // name of the command, with which errors start
	Dir       string // folder of the outcomes, one atomically written JSON file each
	Cells     []C
	KeepGoing bool // a failed cell does not stop the others

	Key      func(C) string
	Whole    func(C, O) bool  // reports whether an outcome read from its file is complete
	Describe func(C) string   // returns a cell as text for messages
	Headline func(O) string   // returns an outcome as text for messages
	Done     func(C, O) error // receives each outcome, one at a time, first the outcomes of earlier calls

	// Train runs a cell. It calls at with the share that is done.
	Train func(ctx context.Context, cell C, at func(share float64)) (O, error)
	Clean func(C) error // removes temporary files of a cell that is done; may be nil

	// Kind returns the same name for cells that take equally long. Time estimates the cost of a cell from a few steps;
	// nil if cells measure times and so must not be timed.
	Kind func(C) string
	Time func(context.Context, C) (Cost, error)

	// Resolve resolves the training of a cell that trains a network; for other cells it returns nil.
	Resolve func(context.Context, C) (*run.Training, error)
	// TrainsNetwork reports whether a cell trains a network.
	TrainsNetwork func(C) bool

	Machine
	Watch func(what string) (at func(done, total int), end func()) // shows the progress in percent; may be nil

	rt     *ort.Runtime
	atOnce int

	mu     sync.Mutex
	cells  int           // number of cells that the progress covers
	shares map[C]float64 // share done of each started cell
	at     func(done, total int)
	end    func() // ends the progress line; nil if there is none
}

// Cost is the estimated cost of a cell.
type Cost struct {
	Steps   int // number of training steps; 0: none
	Seconds float64
	AtMost  bool // the training may stop early
}

// nameOutcomeFile returns the file of a cell's outcome.
func (g *Grid[C, O]) nameOutcomeFile(cell C) string { return filepath.Join(g.Dir, g.Key(cell)+".json") }

// readOutcome returns the stored outcome of a cell, if there is one. It notes and ignores a damaged file.
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
		g.Say("%s: %s: holds no outcome: the cell is run again", g.Command, g.nameOutcomeFile(cell))
		return none, false, nil
	}
	return o, true, nil
}

// keepOutcome stores the outcome of a cell.
func (g *Grid[C, O]) keepOutcome(cell C, o O) error {
	return atomicfile.Write(g.nameOutcomeFile(cell), func(w io.Writer) error { return text.JSON(w, o) })
}

// Hold makes the folder of the outcomes and checks that it is writable, before hours are spent on a cell. It locks dir,
// because two programs would run the same cells and overwrite each other's tables.
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
			"wait for that program: finished cells are kept; or choose another folder")
	}
	return held, nil
}

// Runtime returns the opened runtime.
func (g *Grid[C, O]) Runtime() (*ort.Runtime, error) { return g.rt, nil }

// Start opens the runtime and chooses the number of cells to run at once. The caller closes the grid.
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

// Run runs the cells that are not done, and returns the failed cells, in order. Without KeepGoing, the first failure
// stops the other cells and is returned as the error.
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

// runRest runs cells. It returns a channel of ended cells, and a channel of the first failure that stops the others.
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

// runCell runs a cell and stores its outcome.
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

// takeEarlier passes stored outcomes to Done, and returns the cells without one.
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
		if g.Clean != nil { // the program may have been killed before it could clean up
			if err := g.Clean(cell); err != nil {
				return nil, err
			}
		}
	}
	return rest, nil
}

// showShare records the share of a cell that is done, 0 to 1, and shows the progress of all cells.
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

// Say writes a note, after ending the progress line.
func (g *Grid[C, O]) Say(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.end != nil {
		g.end()
	}
	g.Note(format, args...)
}
