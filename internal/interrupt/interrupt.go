// Package interrupt handles signals. The first signal ends a context, so that work stops at a safe point and reports
// what was saved; the second one ends the process immediately. It imports no other package of winnow.
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

// Exit codes: 128 plus the number of the signal.
const (
	codeInterrupted = 130 // SIGINT
	codeTerminated  = 143 // SIGTERM
)

// signalled is the cause of a context that was ended by a signal.
type signalled struct{ code int }

func (signalled) Error() string { return "interrupted" }

// Listen returns a context that ends at the first SIGINT or SIGTERM. The second signal exits immediately with 130 or
// 143. The process also exits if it is still running after patience, unless [Keep] holds it; last is called before this
// exit. Call stop once: it stops listening, and the process no longer exits by itself.
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
		signal.Stop(signals) // no signal is sent after this call
		close(signals)
		cancel(nil)
	}
}

// again is the interval at which a process held by [Keep] is checked again.
const again = 100 * time.Millisecond

// kept counts the calls of Keep that were not released.
var kept atomic.Int64

// Keep lets the process take as long as it needs after the first signal, until release is called. It is for work that
// would be lost, such as the steps since a checkpoint.
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

// Code returns the exit code for a program whose context has ended: 143 after SIGTERM, else 130.
func Code(ctx context.Context) int {
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return by.code
	}
	return codeInterrupted
}
