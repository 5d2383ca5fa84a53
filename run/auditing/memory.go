package auditing

import (
	"fmt"

	"winnow/audit"
	"winnow/datasets"
	"winnow/eval"
	"winnow/internal/hint"
	"winnow/internal/text"
)

// What an audit holds, in bytes.
const (
	program = 128 << 20 // the program and the libraries that it loads
	named   = 250       // of an image, its names in the manifest and in the store
	told    = 1000      // and all that is said of it
	fitting = 1280      // and what a judge that fits its numbers to the set weighs
	learned = 4096      // and what heads trained on the spot keep
	least   = 8 << 20   // of similarities, which more only make faster
	most    = 256 << 20
)

// similarities returns how much of all the memory that an audit may take is left for similarities: of vectors of judged
// values, for which features of stored values are held at first. It refuses what does not go into it before anything is
// read.
func similarities(memory int64, images, stored, judged, classes int, scorer string) (int64, error) {
	if memory <= 0 {
		memory = eval.DefaultMaxMem
	}
	n, vector := int64(images), int64(4*judged)
	reading, judging, telling := int64(4*stored)+vector+named, 2*vector+named+fitting, vector+named+told
	switch scorer {
	case audit.Crossfit:
		judging = int64(8*stored) + 2*vector + named + learned
	case "probe", "confident":
		judging = 3*vector + int64(8*classes) + named
	}
	beside := program + n*telling // the similarities
	need := max(program+n*reading, program+n*judging, beside+max(least, 4*n))
	if need > memory {
		return 0, hint.With(fmt.Errorf("audit: %d images of %d values need about %s of memory, --max-mem allows %s", images, judged, text.Approx(need), text.Approx(memory)),
			"allow more: --max-mem %dMiB", (need>>26+1)<<6)
	}
	return min(memory-beside, most), nil
}

// Collected returns from how much memory on the garbage of an audit is to be collected at once, where all of it may take so
// much (debug.SetMemoryLimit). Without, garbage waits until it is as much as what is in use.
func Collected(memory int64) int64 { return max(memory-program, memory/2) }

// within puts what is left for similarities in the place of the memory of the whole audit.
func (o *Options) within(d *datasets.Dataset, stored, judged int) (err error) {
	images := len(d.Samples)
	if !o.IncludeEval {
		images = len(d.Select(datasets.Train))
	}
	o.MaxMem, err = similarities(o.MaxMem, images, stored, judged, len(d.Classes), o.Scorer)
	return err
}
