// Package interrupt handles the signals that end the program. The first ends a context, so that work stops at
// the next good place and says what is saved; a second one ends the process at once. It imports no other
// package of winnow.
package interrupt

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Exit codes are 128 plus the signal's number.
const (
	codeInterrupted = 130 // SIGINT
	codeTerminated  = 143 // SIGTERM
)

// signalled is the reason why the context ended.
type signalled struct{ code int }

func (signalled) Error() string { return "interrupted" }

// Listen returns a context that ends at the first SIGINT or SIGTERM. A second one exits at once with 130 or
// 143. The process also exits when it has not ended so long after the first signal, but not while [Keep] holds it;
// last is called before. Call stop once: it stops listening, and nothing exits afterwards.
func Listen(parent context.Context, patience time.Duration, last func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first, listening := <-signals
		if !listening {
			return
		}
		code := codeOf(first)
		cancel(signalled{code})
		late := time.NewTicker(patience)
		defer late.Stop()
		for {
			select {
			case second, listening := <-signals:
				if listening {
					os.Exit(codeOf(second))
				}
				return
			case <-late.C:
				if kept.Load() == 0 {
					last()
					os.Exit(code)
				}
				late.Reset(again)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals) // nothing is sent after this
		close(signals)
		cancel(nil)
	}
}

// again is how long a process that is held may go on before that is asked again.
const again = 100 * time.Millisecond

// kept counts the calls of Keep that have not ended.
var kept atomic.Int64

// Keep lets the process take as long as it needs after a first signal, until the returned function is called: for work
// that would be lost, such as the steps since a checkpoint.
func Keep() (release func()) {
	kept.Add(1)
	return sync.OnceFunc(func() { kept.Add(-1) })
}

func codeOf(s os.Signal) int {
	if s == syscall.SIGTERM {
		return codeTerminated
	}
	return codeInterrupted
}

// Code returns the exit code of a program whose context has ended: 143 after SIGTERM, else 130.
func Code(ctx context.Context) int {
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return by.code
	}
	return codeInterrupted
}
