package live

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"winnow/backbone"
	"winnow/features"
)

// loading is a batch whose views are being made. Several goroutines take its rows in turn.
type loading struct {
	p       *Pixels
	rows    []int
	base    uint64 // seed of the views' random numbers
	dst     []float32
	errs    []error
	next    atomic.Int64 // the next row without a goroutine
	working sync.WaitGroup
}

// beginLoading allocates memory for a batch of views in room.
func (p *Pixels) beginLoading(room *[]float32, rows []int, base uint64) *loading {
	*room = features.Grow(*room, len(rows)*p.size)
	return &loading{p: p, rows: slices.Clone(rows), base: base, dst: *room, errs: make([]error, len(rows))}
}

// startViews starts one goroutine per viewer to make the remaining views.
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

// finishViews waits until all views are made. If several failed, it returns the error of the first in the batch.
func (l *loading) finishViews() error {
	l.working.Wait()
	for _, err := range l.errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// dropViews stops the work and waits for the goroutines.
func (l *loading) dropViews() {
	l.next.Store(int64(len(l.rows)))
	l.working.Wait()
}
