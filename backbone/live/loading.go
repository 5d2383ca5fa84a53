package live

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"winnow/backbone"
	"winnow/features"
)

// loading is a batch in preparation. Each row is made by the first to claim it: a background thread or one of
// the goroutines of Load. Load never waits for a view that a background thread has only begun, since the thread
// may wait long for a core: Load makes the view itself, and the thread's is thrown away.
type loading struct {
	p     *Pixels
	rows  []int
	base  uint64 // seed of the views
	dst   []float32
	errs  []error
	state []atomic.Int32 // state of each row

	began time.Time
	last  atomic.Int64 // when a background thread made its last row, in nanoseconds after began
}

// States of a row.
const (
	free    = iota
	begun   // a background thread makes it
	writing // the background thread copies it to dst
	taken   // in dst, or left to Load
)

// beginLoading makes room for a batch.
func (p *Pixels) beginLoading(room *[]float32, rows []int, base uint64) *loading {
	*room = features.Grow(*room, len(rows)*p.size)
	n := len(rows)
	return &loading{
		p: p, rows: slices.Clone(rows), base: base,
		dst: *room, errs: make([]error, n), state: make([]atomic.Int32, n), began: time.Now(),
	}
}

// makeView makes the view of the i-th row.
func (l *loading) makeView(v *backbone.Viewer, dst []float32, i int) error {
	return l.p.loadView(v, dst, l.rows[i], rand.New(rand.NewPCG(l.base, uint64(i))))
}

// viewPlace returns the part of dst for the i-th view.
func (l *loading) viewPlace(i int) []float32 { return l.dst[i*l.p.size : (i+1)*l.p.size] }

// workAhead makes the views that are still free, in a place of its own first.
func (l *loading) workAhead(v *backbone.Viewer, own []float32) {
	for i := range l.rows {
		if !l.state[i].CompareAndSwap(free, begun) {
			continue
		}
		err := l.makeView(v, own, i)
		if !l.state[i].CompareAndSwap(begun, writing) {
			return // Load has taken over
		}
		copy(l.viewPlace(i), own)
		l.errs[i] = err
		l.last.Store(int64(time.Since(l.began)))
		l.state[i].Store(taken)
	}
}

// isLoaded reports whether all rows are made, without an error.
func (l *loading) isLoaded() bool {
	for i := range l.state {
		if l.state[i].Load() != taken || l.errs[i] != nil {
			return false
		}
	}
	return true
}

// claimRow reports whether the caller must make the i-th row. Otherwise it waits until the row is written.
func (l *loading) claimRow(i int) bool {
	if l.state[i].CompareAndSwap(free, taken) || l.state[i].CompareAndSwap(begun, taken) {
		return true
	}
	for l.state[i].Load() != taken {
		time.Sleep(20 * time.Microsecond)
	}
	return false
}

// takeAll calls do for each row that is not made, last row first: those begun in the background may be done by
// then.
func (l *loading) takeAll(do func(i int)) {
	for i := len(l.rows) - 1; i >= 0; i-- {
		if l.claimRow(i) {
			do(i)
		}
	}
}

// finishRows makes the remaining rows on all cores. Of several errors it returns the first in the batch.
func (l *loading) finishRows() error {
	var rest []int
	l.takeAll(func(i int) { rest = append(rest, i) })
	var next atomic.Int64
	var all sync.WaitGroup
	for _, v := range l.p.viewers[:min(len(l.p.viewers), len(rest))] {
		all.Go(func() {
			for at := int(next.Add(1)) - 1; at < len(rest); at = int(next.Add(1)) - 1 {
				l.errs[rest[at]] = l.makeView(v, l.viewPlace(rest[at]), rest[at])
			}
		})
	}
	all.Wait()
	for _, err := range l.errs {
		if err != nil {
			return err
		}
	}
	return nil
}
