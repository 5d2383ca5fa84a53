package ort

import (
	"fmt"
	"strings"
)

// The address space that ONNX Runtime needs: for itself in addition to Go, and for each thread's stack and
// heap. With less it fails at any place, or the process ends when a thread cannot be created.
const (
	spaceAlone  = 9 << 28 // 2.25 GiB
	spaceThread = 128 << 20
)

// ShortHint says what to do if [Short] reports true.
const ShortHint = "allow the process more memory and address space (ulimit -v unlimited), or take fewer --threads"

// shortOfSpace returns an error if the address space is limited to less than this number of threads needs.
func shortOfSpace(limit uint64, threads int) error {
	if need := spaceAlone + uint64(threads)*spaceThread; limit > 0 && limit < need {
		return fmt.Errorf("ort: out of address space: limited to %d MiB (ulimit -v), "+
			"expected %d MiB or more for %d threads", limit>>20, need>>20, threads)
	}
	return nil
}

// Short reports whether ONNX Runtime, or the system that loads it, has failed because memory or address space
// ran out. The library reports it only as text.
func Short(err error) bool {
	for _, sign := range []string{
		"out of address space", "bad_alloc", "Cannot allocate memory", "cannot allocate memory",
		"failed to map segment", "Resource temporarily unavailable", "Failed to allocate memory",
	} {
		if err != nil && strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}
