// Package memory lets tests limit the memory that a call allocates: a small malicious file must not make a reader
// allocate gigabytes.
package memory

import (
	"runtime"
	"testing"
)

// Check runs f and fails the test if f allocates more than most bytes of heap, including freed memory.
func Check(t testing.TB, most uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("allocated %d bytes, expected at most %d", took, most)
	}
}
