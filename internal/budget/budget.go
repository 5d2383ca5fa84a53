// Package budget divides the memory that a command may take, its --max-mem: among the program, what the command holds, and
// the similarities that it compares vectors by, which take what is left. Features that stay in their files do not count.
package budget

import (
	"fmt"
	"runtime/debug"

	"winnow/internal/hint"
	"winnow/internal/text"
)

const (
	program = 128 << 20 // the program and the libraries that it loads
	least   = 8 << 20   // of similarities, which more only make faster
	most    = 256 << 20
	part    = 8 // of memory that they take at most: they come while garbage of this size is still being collected
)

// Usual is the memory of a command that is told nothing, and Usage the help of its flag --max-mem.
const (
	Usual = 1 << 30
	Usage = "most memory for all that the command holds, `SIZE`: 512MiB, 2GiB"
)

// What an image takes, in bytes.
const (
	Named = 250 // its names in the manifest and in the store
	Told  = 600 // all that an audit says of it
)

// Covariance returns what whitening holds of features of so many values, in bytes.
func Covariance(values int) int64 { return 28 * int64(values) * int64(values) }

// Use is what a command holds, in bytes.
type Use struct {
	What   string // holds it, for an error: "audit: 100 images of 64 values"
	Beside int64  // similarities
	Other  int64  // at another time, without similarities
	Row    int64  // similarities of one vector, below which nothing can be compared
}

// With returns the use with so many bytes more that are held all the time.
func (u Use) With(held int64) Use {
	u.Beside, u.Other = u.Beside+held, u.Other+held
	return u
}

// Similarities returns how much of the memory of a whole command is left for similarities. It refuses what does not go
// into it, before anything is read.
func (u Use) Similarities(memory int64) (int64, error) {
	if memory <= 0 {
		memory = Usual
	}
	need := program + max(u.Other, u.Beside+max(least, u.Row))
	if need > memory {
		return 0, hint.With(fmt.Errorf("%s need about %s of memory, --max-mem allows %s", u.What, text.Approx(need), text.Approx(memory)),
			"allow more: --max-mem %dMiB", (need>>26+1)<<6)
	}
	return max(min(memory-program-u.Beside, memory/part, most), u.Row), nil
}

// Collect has garbage collected at once where a command would take more than its memory, until end is called. Without,
// garbage waits until it is as much as what is in use.
func Collect(memory int64) (end func()) {
	before := debug.SetMemoryLimit(max(memory-program, memory/2))
	return func() { debug.SetMemoryLimit(before) }
}
