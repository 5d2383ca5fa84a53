//go:build !linux

package extraction

// availableMemory reports that the memory is not known here.
func availableMemory() (int64, bool) { return 0, false }

// peakMemory returns 0: it is not known here.
func peakMemory() int64 { return 0 }
