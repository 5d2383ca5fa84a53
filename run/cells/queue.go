package cells

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// Share returns how many cells run at once, and on how many threads each computes. jobs 0: one a thread; threads, those of
// all together, 0: one a core.
func Share(jobs, threads int) (atOnce, each int) {
	all := cmp.Or(threads, runtime.GOMAXPROCS(0))
	if jobs < 1 || jobs > all {
		jobs = all
	}
	return jobs, max(all/jobs, 1)
}

// Queue runs cells in their order. C is a cell, O what comes of it.
type Queue[C, O any] struct {
	Cells []C
	Jobs  int  // at once
	GoOn  bool // where a cell fails the others are run all the same

	Begun    func(rest int)                       // takes the number of cells that are not done, before any is run; may be nil
	Kept     func(C) (O, bool, error)             // what came of it before, if anything did
	Run      func(context.Context, C) (O, error)  // runs one, and keeps what comes of it
	Done     func(cell C, o O, before bool) error // takes each that is done, one at a time; those done before come first
	Describe func(C) string                       // for messages
	Headline func(O) string                       // the same, of what came of it
	Note     func(format string, args ...any)     // takes what a person may want to know
}

// Failure is a cell that could not be run.
type Failure[C any] struct {
	Cell C
	Err  error
}

// Go runs what is not done yet, and returns what failed, in the order of the cells. Without GoOn the first failure ends the others, and is the error.
func (q Queue[C, O]) Go(ctx context.Context) ([]Failure[C], error) {
	rest, err := q.rest()
	if err != nil {
		return nil, err
	}
	if q.Begun != nil {
		q.Begun(len(rest))
	}
	q.Note("%d cells, %d done before, %d at once", len(q.Cells), len(q.Cells)-len(rest), q.Jobs)
	type ended struct {
		at      int
		outcome O
		took    time.Duration
		err     error
	}
	found, failed := make(chan ended), make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(q.Jobs)
		for i, cell := range rest {
			g.Go(func() error {
				if ctx.Err() != nil {
					return nil
				}
				start := time.Now()
				o, err := q.Run(ctx, cell)
				if err != nil {
					err = fmt.Errorf("%s: %w", q.Describe(cell), err)
					if !q.GoOn || ctx.Err() != nil {
						return err
					}
				}
				found <- ended{i, o, time.Since(start), err}
				return nil
			})
		}
		failed <- g.Wait()
		close(found)
	}()
	start, n := time.Now(), 0
	var bad []ended
	var broken error
	for d := range found {
		n++
		left := (time.Since(start) / time.Duration(n) * time.Duration(len(rest)-n)).Round(time.Second)
		if d.err != nil {
			bad = append(bad, d)
			q.Note("%d/%d  failed: %v, %s left", n, len(rest), d.err, left)
			continue
		}
		if err := q.Done(rest[d.at], d.outcome, false); err != nil {
			broken = cmp.Or(broken, err)
			stop()
			continue
		}
		q.Note("%d/%d  %s: %s in %.1f s, %s left", n, len(rest), q.Describe(rest[d.at]), q.Headline(d.outcome), d.took.Seconds(), left)
	}
	slices.SortFunc(bad, func(a, b ended) int { return a.at - b.at })
	var failures []Failure[C]
	for _, d := range bad {
		failures = append(failures, Failure[C]{rest[d.at], d.err})
	}
	return failures, cmp.Or(broken, <-failed, ctx.Err())
}

// rest hands over what is done, and returns the others. A damaged file counts for nothing done: the cell is run again.
func (q Queue[C, O]) rest() (rest []C, err error) {
	for _, cell := range q.Cells {
		o, done, err := q.KeptWhole(cell)
		if err != nil {
			return nil, err
		}
		if !done {
			rest = append(rest, cell)
		} else if err := q.Done(cell, o, true); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// KeptWhole returns what came of a cell before. A damaged file counts for none, which is noted.
func (q Queue[C, O]) KeptWhole(cell C) (O, bool, error) {
	o, done, err := q.Kept(cell)
	if errors.Is(err, ErrDamaged) {
		q.Note("%v: it is run again", err)
		return o, false, nil
	}
	return o, done, err
}
