package pgvector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Patience is how often a request is tried. The tries span some two minutes, enough for a server to restart.
const Patience = 15

const (
	// The pause between tries doubles from the first to the longest.
	firstPause, longestPause = 200 * time.Millisecond, 15 * time.Second
	// strangerTries is the limit for the first request: a wrong address should not cost minutes.
	strangerTries = 4
	// told is how many failures of a request pass before the user is told that it is being repeated.
	told = 4
)

// Tries repeats requests. Every request is safe to repeat: it says what the state should be, not what to add.
type Tries struct {
	Sleep func(context.Context, time.Duration) error // nil: sleep

	answered bool // the server has answered at least once
	note     func(text string)
}

// Notify sets the function that receives notes for the user.
func (t *Tries) Notify(note func(text string)) { t.note = note }

// Note sends the user a note.
func (t *Tries) Note(format string, args ...any) {
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

// Do makes a request and repeats it as long as failed reports that there was no answer. Each try may take limit (0:
// forever).
func (t *Tries) Do(ctx context.Context, limit time.Duration, request func(context.Context) error,
	failed func(error) *RequestError) error {
	pause := firstPause
	for tries := 1; ; tries++ {
		within, cancel := ctx, context.CancelFunc(func() {})
		if limit > 0 {
			within, cancel = context.WithTimeout(ctx, limit)
		}
		err := request(within)
		cancel()
		if err == nil {
			t.answered = true
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failure := failed(err)
		failure.Tries = tries
		if !failure.NoAnswer || tries >= Patience || !t.answered && tries >= strangerTries {
			return failure
		}
		if tries == told {
			t.Note("%v; retrying", failure)
		}
		// Half of the pause is random, so that several uploads do not all return at once.
		drawn := pause/2 + rand.N(pause/2+1)
		if err := t.sleepBetween(ctx, drawn); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

func (t *Tries) sleepBetween(ctx context.Context, d time.Duration) error {
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
