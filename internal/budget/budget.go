// Package budget determines how much memory is left. It divides the memory of a command (its --max-mem) among the
// program, the data held by the command, and similarities between vectors, which get the rest. Features that stay in
// their files are not counted.
package budget

import (
	"fmt"
	"runtime/debug"

	"winnow/internal/hint"
	"winnow/internal/text"
)

const (
	program = 128 << 20 // the program and its libraries
	least   = 8 << 20   // smallest memory for similarities; more memory only makes them faster
	most    = 256 << 20 // largest memory for similarities
	part    = 8         // similarities get at most 1/part of the memory, because as much garbage may exist
)

// usual is the default memory of a command; Usage is the help of its flag --max-mem.
const (
	usual = 1 << 30
	Usage = "largest memory for all data of the command, `SIZE`: 512MiB, 2GiB"
)

// Memory for each image, in bytes.
const (
	Named = 250 // the image's names in the manifest and in the store
)

// Use is the memory used by a command, in bytes.
type Use struct {
	What   string // what uses the memory, for errors: "audit: 100 images of 64 values"
	Beside int64  // used at the same time as similarities
	Other  int64  // used at other times
	Row    int64  // similarities of one vector, the smallest block of a comparison
}

// Similarities returns the part of a command's memory that is left for similarities. If the memory is too small, it
// returns an error before any data are read.
func (u Use) Similarities(memory int64) (int64, error) {
	if memory <= 0 {
		memory = usual
	}
	need := program + max(u.Other, u.Beside+max(least, u.Row))
	if need > memory {
		return 0, hint.With(
			fmt.Errorf("%s need about %s of memory, but --max-mem allows %s",
				u.What, text.Approx(need), text.Approx(memory)),
			"allow more: --max-mem %dMiB", (need>>26+1)<<6)
	}
	return max(min(memory-program-u.Beside, memory/part, most), u.Row), nil
}

// Collect makes the garbage collector run as soon as a command would exceed its memory, until end is called. Without
// it, garbage may grow to the size of the live data.
func Collect(memory int64) (end func()) {
	before := debug.SetMemoryLimit(max(memory-program, memory/2))
	return func() { debug.SetMemoryLimit(before) }
}
