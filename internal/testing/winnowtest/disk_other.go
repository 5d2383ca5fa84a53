//go:build !unix

package winnowtest

// freeDisk returns false: the free space is not known here.
func freeDisk(string) (uint64, bool) { return 0, false }
