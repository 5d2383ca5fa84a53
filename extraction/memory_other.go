//go:build !linux

package extraction

// availableMemory reports that the memory is not known here.
func availableMemory() (int64, bool) { return 0, false }
