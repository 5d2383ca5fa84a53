package live

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"winnow/backbone"
	"winnow/features"
)

// loading is a batch whose views are made, each by the goroutine that takes it first.
type loading struct {
	p       *Pixels
	rows    []int
	base    uint64 // seed of the views
	dst     []float32
	errs    []error
	next    atomic.Int64 // the row that is taken next
	working sync.WaitGroup
}

// beginLoading makes room for a batch.
func (p *Pixels) beginLoading(room *[]float32, rows []int, base uint64) *loading {
	*room = features.Grow(*room, len(rows)*p.size)
	return &loading{p: p, rows: slices.Clone(rows), base: base, dst: *room, errs: make([]error, len(rows))}
}

// startViews makes the views that are left, on a goroutine for each viewer.
func (l *loading) startViews(viewers []*backbone.Viewer) {
	for _, v := range viewers[:min(len(viewers), len(l.rows))] {
		l.working.Go(func() {
			for i := int(l.next.Add(1)) - 1; i < len(l.rows); i = int(l.next.Add(1)) - 1 {
				rng := rand.New(rand.NewPCG(l.base, uint64(i)))
				l.errs[i] = l.p.loadView(v, l.dst[i*l.p.size:(i+1)*l.p.size], l.rows[i], rng)
			}
		})
	}
}

// finishViews waits until all views are made. Of several errors it returns the first in the batch.
func (l *loading) finishViews() error {
	l.working.Wait()
	for _, err := range l.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// dropViews ends the work.
func (l *loading) dropViews() {
	l.next.Store(int64(len(l.rows)))
	l.working.Wait()
}
