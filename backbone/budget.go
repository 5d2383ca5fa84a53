package backbone

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"

	"golang.org/x/sync/semaphore"
)

// budget is memory that all readers of the process share: one that is about to take some waits until there is room.
type budget struct {
	total int64
	left  *semaphore.Weighted
}

func newBudget(total int64) *budget { return &budget{total, semaphore.NewWeighted(total)} }

// hold waits for n bytes, at most all there are, and returns what gives them back.
func (b *budget) hold(n int64) (release func()) {
	n = min(n, b.total)
	_ = b.left.Acquire(context.Background(), n) // a context that never ends is never an error
	return func() {
		if n >= collected {
			debug.FreeOSMemory() // or what is dead counts a second time beside the next one, which seldom takes its place
		}
		b.left.Release(n)
	}
}

// collected is from how many bytes on a picture is worth a collection of its own: it took seconds to decode.
const collected = 256 << 20

// Decoding holds of two budgets, always in this order, so that readers cannot wait for each other: the files' bytes, and what
// decoding, turning and resizing them takes. Ordinary photographs of all cores fit at once.
var (
	fileBudget    = newBudget(maxFile)
	pictureBudget = newBudget(min(max(DefaultMaxBytes, int64(runtime.GOMAXPROCS(0))*128<<20), spaceForPictures))
)

// spaceForPictures bounds what pictures take together, and each of them: Go's runtime ends the program where the address
// space does.
var spaceForPictures = spaceWithin(AddressSpace())

// spaceWithin returns half of what the program leaves of an address space of limit bytes (0: no limit), since the place of a
// picture that was let go is not always used again.
func spaceWithin(limit uint64) int64 {
	const program, least = 7 << 28, 16 << 20
	if limit == 0 {
		return math.MaxInt64
	}
	return max(least, (int64(limit)-program)/2)
}
