// Package budget says how much memory is left, and divides the memory that a command may use, its --max-mem, among
// the program, what the command holds, and the similarities between vectors, which get the rest. Features that stay in
// their files do not count.
package budget

import (
	"fmt"
	"runtime/debug"

	"winnow/internal/hint"
	"winnow/internal/text"
)

const (
	program = 128 << 20 // the program and its libraries
	least   = 8 << 20   // least memory for similarities; more only makes them faster
	most    = 256 << 20 // most memory for similarities
	part    = 8         // they get at most 1/part of the memory, since garbage of that size may be uncollected
)

// usual is the default memory of a command; Usage is the help of its flag --max-mem.
const (
	usual = 1 << 30
	Usage = "most memory for all that the command holds, `SIZE`: 512MiB, 2GiB"
)

// Memory of an image, in bytes.
const (
	Named = 250 // its names in the manifest and in the store
)

// Use is the memory that a command holds, in bytes.
type Use struct {
	What   string // what holds it, for errors: "audit: 100 images of 64 values"
	Beside int64  // held at the same time as similarities
	Other  int64  // held at other times
	Row    int64  // similarities of one vector: the least that can be compared
}

// With returns the use with additional bytes that are held all the time.
func (u Use) With(held int64) Use {
	u.Beside, u.Other = u.Beside+held, u.Other+held
	return u
}

// Similarities returns the part of a command's memory that is left for similarities. It returns an error if the
// memory is too small, before anything is read.
func (u Use) Similarities(memory int64) (int64, error) {
	if memory <= 0 {
		memory = usual
	}
	need := program + max(u.Other, u.Beside+max(least, u.Row))
	if need > memory {
		return 0, hint.With(
			fmt.Errorf("%s need about %s of memory, --max-mem allows %s",
				u.What, text.Approx(need), text.Approx(memory)),
			"allow more: --max-mem %dMiB", (need>>26+1)<<6)
	}
	return max(min(memory-program-u.Beside, memory/part, most), u.Row), nil
}

// Collect makes the garbage collector run as soon as a command would exceed its memory, until end is called.
// Normally garbage may grow to the size of the memory in use.
func Collect(memory int64) (end func()) {
	before := debug.SetMemoryLimit(max(memory-program, memory/2))
	return func() { debug.SetMemoryLimit(before) }
}
