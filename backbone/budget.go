package backbone

import (
	"context"
	"runtime"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// budget is memory that all readers of the process share. A reader waits until what it needs is free.
type budget struct {
	total int64
	left  *semaphore.Weighted
}

func newBudget(total int64) *budget { return &budget{total, semaphore.NewWeighted(total)} }

// holdBudgetBytes waits for n bytes, at most the total, and returns a function that gives them back.
func (b *budget) holdBudgetBytes(n int64) (release func()) {
	n = min(n, b.total)
	_ = b.left.Acquire(context.Background(), n) // a context that never ends is never an error
	return func() {
		if n >= collected {
			debug.FreeOSMemory() // otherwise dead memory stays: the next picture seldom reuses it
		}
		b.left.Release(n)
	}
}

// collected is the size in bytes from which a picture is worth a garbage collection of its own: decoding it
// took seconds.
const collected = 256 << 20

// Decoding takes from two budgets: the bytes of the files, and the memory for decoding, turning and resizing.
// The order is always the same, so readers cannot wait for each other. The second has room for ordinary
// photographs on all cores at once.
var (
	fileBudget    = newBudget(maxFile)
	pictureBudget = newBudget(max(defaultMaxBytes, int64(runtime.GOMAXPROCS(0))*128<<20))
)
