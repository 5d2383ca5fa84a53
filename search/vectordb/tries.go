package vectordb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Patience outlasts a server that restarts: so many tries of a request are some two minutes.
const Patience = 15

const (
	firstPause, longestPause = 200 * time.Millisecond, 15 * time.Second // it doubles from one to the other
	strangerTries            = 4                                        // of the first request: a wrong address should not cost minutes
	told                     = 4                                        // failures of one request pass before the user hears that it is being repeated
)

// Tries repeats requests. All requests may be repeated: they say what the state should be, not what to add.
type Tries struct {
	Sleep func(context.Context, time.Duration) error // nil: sleeps

	answered atomic.Bool // the server has, once
	mu       sync.Mutex  // of note, and of the caller's function
	note     func(text string)
}

// Notify has what the user should know told to note, which is called by one goroutine at a time.
func (t *Tries) Notify(note func(text string)) { t.note = note }

// Note tells the user a fact.
func (t *Tries) Note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.note != nil {
		t.note(fmt.Sprintf(format, args...))
	}
}

// Error implements error.
func (e *RequestError) Error() string {
	if e.Tries > 1 {
		return fmt.Sprintf("%s, %d times", e.Message, e.Tries)
	}
	return e.Message
}

// Do makes a request, repeatedly while failed says of its error that there was no answer, each time within limit (0: none).
func (t *Tries) Do(ctx context.Context, limit time.Duration, request func(context.Context) error, failed func(error) *RequestError) error {
	pause := firstPause
	for tries := 1; ; tries++ {
		within, cancel := ctx, context.CancelFunc(func() {})
		if limit > 0 {
			within, cancel = context.WithTimeout(ctx, limit)
		}
		err := request(within)
		cancel()
		if err == nil {
			t.answered.Store(true)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failure := failed(err)
		failure.Tries = tries
		if !failure.NoAnswer || tries >= Patience || !t.answered.Load() && tries >= strangerTries {
			return failure
		}
		if tries == told {
			t.Note("%v; going on trying", failure)
		}
		// Half of the pause is drawn, so that the streams of an upload do not all come back at once.
		drawn := pause/2 + rand.N(pause/2+1)
		if err := t.sleep(ctx, max(drawn, failure.Least)); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

func (t *Tries) sleep(ctx context.Context, d time.Duration) error {
	if t.Sleep != nil {
		return t.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
