package qdrant

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// waiting says how long to wait for a server that does not answer.
type waiting struct {
	first, longest time.Duration // the pause doubles from the first to the longest
	tries          int           // of one request
	sleep          func(context.Context, time.Duration) error
}

// strangerTries are those of the first request: a wrong address should not cost minutes.
const strangerTries = 4

// patience outlasts a server that restarts: 14 pauses, about two minutes.
var patience = waiting{first: 200 * time.Millisecond, longest: 15 * time.Second, tries: 15, sleep: sleep}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// RequestError is a request that a server refused, or did not answer although it was repeated.
type RequestError struct {
	Server, What string
	Code         codes.Code
	Tries        int
	Err          error
}

func (e *RequestError) Error() string {
	text := e.Err.Error()
	var answer interface{ GRPCStatus() *status.Status }
	if errors.As(e.Err, &answer) {
		text = answer.GRPCStatus().Message()
	}
	var busy *client.QdrantResourceExhaustedError
	if errors.As(e.Err, &busy) {
		text = busy.Reason
	}
	message := fmt.Sprintf("qdrant: %s: %s: %s (%s)", e.Server, e.What, text, e.Code)
	if e.Tries > 1 {
		message += fmt.Sprintf(", %d times", e.Tries)
	}
	return message
}

// Unwrap returns the client's error.
func (e *RequestError) Unwrap() error { return e.Err }

// Refused reports whether the server wants another key.
func (e *RequestError) Refused() bool {
	return e.Code == codes.Unauthenticated || e.Code == codes.PermissionDenied
}

// NoAnswer reports whether the server could not be reached.
func (e *RequestError) NoAnswer() bool { return transient(e.Code) }

// transient reports whether an error may be gone when the request is repeated. All requests of this package may be repeated:
// they say what the state should be, not what to add.
func transient(c codes.Code) bool {
	switch c {
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Aborted:
		return true
	}
	return false
}

// told is how many failures of one request pass before the user hears that it is being repeated.
const told = 4

// try makes a request, repeatedly if that may help, each time within limit.
func (u *upload) try(ctx context.Context, what string, limit time.Duration, request func(context.Context) error) error {
	wait := u.s.wait
	pause := wait.first
	for tries := 1; ; tries++ {
		within, cancel := context.WithTimeout(ctx, limit)
		err := request(within)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		code, least := reason(err)
		failure := &RequestError{Server: u.s.address.String(), What: what, Code: code, Tries: tries, Err: err}
		if !transient(code) || tries >= wait.tries || !u.answered && tries >= strangerTries {
			return failure
		}
		if tries == told {
			u.note("%v; going on trying", failure)
		}
		// Half of the pause is drawn, so that the streams of an upload do not all come back at once.
		drawn := pause/2 + rand.N(pause/2+1)
		if err := wait.sleep(ctx, max(drawn, least)); err != nil {
			return err
		}
		pause = min(2*pause, wait.longest)
	}
}

// reason returns the code of an error, and the least time that the server wants to be left alone.
func reason(err error) (codes.Code, time.Duration) {
	if busy, ok := errors.AsType[*client.QdrantResourceExhaustedError](err); ok {
		return codes.ResourceExhausted, time.Duration(min(max(busy.RetryAfterS, 0), 120)) * time.Second
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return codes.DeadlineExceeded, 0
	}
	return status.Code(err), 0
}
