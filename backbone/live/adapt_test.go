package live

import (
	"sync/atomic"
	"testing"
	"time"

	"winnow/backbone"
)

// A batch that is made early takes fewer threads, one that is late more, never none and never more than there are.
func TestAdapt(t *testing.T) {
	p := &Pixels{early: make([]*backbone.Viewer, 8), wanted: 8}
	for i, c := range []struct {
		done bool
		last time.Duration
		want int
	}{
		{true, time.Minute, 6}, {true, time.Minute, 4}, {true, 40 * time.Minute, 4}, {true, time.Minute, 3},
		{true, time.Minute, 2}, {true, time.Minute, 1}, {true, time.Minute, 1}, {false, 0, 2}, {false, time.Minute, 4},
		{true, 0, 4}, {false, 0, 8}, {false, 0, 8},
	} {
		l := &loading{errs: make([]error, 1), state: make([]atomic.Int32, 1), began: time.Now().Add(-time.Hour)}
		if c.done {
			l.state[0].Store(taken)
		}
		l.last.Store(int64(c.last))
		if p.adaptThreads(l); p.wanted != c.want {
			t.Errorf("batch %d: %d threads, expected %d", i, p.wanted, c.want)
		}
	}
}
