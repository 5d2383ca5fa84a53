package backbone

import (
	"context"
	"runtime"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// budget is an amount of memory that all readers of the process share. A reader waits until enough of it is free.
type budget struct {
	total int64
	left  *semaphore.Weighted
}

func newBudget(total int64) *budget { return &budget{total, semaphore.NewWeighted(total)} }

// holdBudgetBytes waits for n bytes, at most the total, and returns a function that gives them back.
func (b *budget) holdBudgetBytes(n int64) (release func()) {
	n = min(n, b.total)
	_ = b.left.Acquire(context.Background(), n) // cannot fail: this context never ends
	return func() {
		if n >= collected {
			debug.FreeOSMemory() // returns memory to the system: the next image seldom fits into the freed blocks
		}
		b.left.Release(n)
	}
}

// collected is the size in bytes from which released memory is returned to the system at once. Decoding such an image
// takes seconds, so the garbage collection adds little.
const collected = 256 << 20

// Decoding draws on two budgets, always in this order so that readers cannot deadlock: bytes of files first, then
// memory for decoding, rotating and resizing. The second is large enough for ordinary photographs on all cores at once.
var (
	fileBudget    = newBudget(maxFile)
	pictureBudget = newBudget(max(defaultMaxBytes, int64(runtime.GOMAXPROCS(0))*128<<20))
)
