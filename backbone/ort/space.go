package ort

import (
	"fmt"
	"strings"
)

// What ONNX Runtime takes of the address space: itself beside Go, and each thread with its stack and its heap. With less
// it fails anywhere, or a thread that cannot be made ends the process.
const (
	spaceAlone  = 9 << 28 // 2.25 GiB
	spaceThread = 128 << 20
)

// ShortHint is what to do where [Short] reports true.
const ShortHint = "allow the process more memory and address space (ulimit -v unlimited), or take fewer --threads"

// shortOfSpace says that the address space is limited to less than a number of threads needs.
func shortOfSpace(limit uint64, threads int) error {
	if need := spaceAlone + uint64(threads)*spaceThread; limit > 0 && limit < need {
		return fmt.Errorf("ort: out of address space: limited to %d MiB (ulimit -v), expected %d MiB or more for %d threads", limit>>20, need>>20, threads)
	}
	return nil
}

// Short reports whether ONNX Runtime, or the system that was to load it, has failed for want of memory or address space.
// The library tells so in words only.
func Short(err error) bool {
	for _, sign := range []string{"out of address space", "bad_alloc", "Cannot allocate memory", "cannot allocate memory", "failed to map segment", "Resource temporarily unavailable", "Failed to allocate memory"} {
		if err != nil && strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}
