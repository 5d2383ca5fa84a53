package pictures

import (
	"context"
	"sync"
)

// flight makes each picture once for all callers that wait for it.
type flight struct {
	mutex sync.Mutex
	on    map[key]*call
}

type call struct {
	waiting int
	stop    context.CancelFunc // called when nobody waits any more
	done    chan struct{}
	data    []byte
	err     error
}

// shareResult returns the result of produce, whose context ends when all callers have gone.
func (f *flight) shareResult(
	ctx context.Context,
	k key,
	produce func(context.Context) ([]byte, error),
) ([]byte, error) {
	f.mutex.Lock()
	c, ok := f.on[k]
	if !ok {
		c = f.startCall(k, produce)
	}
	c.waiting++
	f.mutex.Unlock()
	select {
	case <-c.done:
		return c.data, c.err
	case <-ctx.Done():
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.stop()
		if f.on[k] == c {
			delete(f.on, k) // later callers start again
		}
	}
	return nil, ctx.Err()
}

// startCall begins a call. The mutex must be held.
func (f *flight) startCall(k key, produce func(context.Context) ([]byte, error)) *call {
	ctx, stop := context.WithCancel(context.Background())
	c := &call{stop: stop, done: make(chan struct{})}
	if f.on == nil {
		f.on = map[key]*call{}
	}
	f.on[k] = c
	go func() {
		defer stop()
		c.data, c.err = produce(ctx)
		f.mutex.Lock()
		if f.on[k] == c {
			delete(f.on, k)
		}
		f.mutex.Unlock()
		close(c.done)
	}()
	return c
}
