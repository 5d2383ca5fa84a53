//go:build !unix

package winnowtest

// freeDisk returns false: the free space is unknown on this system.
func freeDisk(string) (uint64, bool) { return 0, false }
