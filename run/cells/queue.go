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

// Share returns how many cells run at once, and how many threads each has. jobs 0 is one per thread; threads is the
// total, 0 is one per core.
func Share(jobs, threads int) (atOnce, each int) {
	all := cmp.Or(threads, runtime.GOMAXPROCS(0))
	if jobs < 1 || jobs > all {
		jobs = all
	}
	return jobs, max(all/jobs, 1)
}

// Queue runs cells in order. C is a cell, O its outcome.
type Queue[C, O any] struct {
	Cells []C
	Jobs  int  // at once
	GoOn  bool // a failed cell does not stop the others

	Begun    func(rest int)                       // takes the number of cells to run, before the first; may be nil
	Kept     func(C) (O, bool, error)             // returns an earlier outcome, if there is one
	Run      func(context.Context, C) (O, error)  // runs a cell and keeps its outcome
	Done     func(cell C, o O, before bool) error // takes each outcome, one at a time; those of before come first
	Describe func(C) string                       // a cell in messages
	Headline func(O) string                       // an outcome in messages
	Note     func(format string, args ...any)     // takes notes for the user
}

// failure is a cell that failed.
type failure[C any] struct {
	Cell C
	Err  error
}

// Go runs the cells that are not done, and returns those that failed, in order. Without GoOn the first failure stops
// the others and is the error.
func (q Queue[C, O]) Go(ctx context.Context) ([]failure[C], error) {
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
		q.Note("%d/%d  %s: %s in %.1f s, %s left", n, len(rest), q.Describe(rest[d.at]), q.Headline(d.outcome),
			d.took.Seconds(), left)
	}
	slices.SortFunc(bad, func(a, b ended) int { return a.at - b.at })
	var failures []failure[C]
	for _, d := range bad {
		failures = append(failures, failure[C]{rest[d.at], d.err})
	}
	return failures, cmp.Or(broken, <-failed, ctx.Err())
}

// rest passes earlier outcomes to Done, and returns the other cells. A cell with a damaged file is run again.
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

// KeptWhole returns the earlier outcome of a cell. A damaged file counts as none and is noted.
func (q Queue[C, O]) KeptWhole(cell C) (O, bool, error) {
	o, done, err := q.Kept(cell)
	if errors.Is(err, errDamaged) {
		q.Note("%v: it is run again", err)
		return o, false, nil
	}
	return o, done, err
}
