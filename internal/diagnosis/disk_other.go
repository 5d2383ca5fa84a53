//go:build !unix

package diagnosis

// FreeDisk returns false: the free space is not known here.
func FreeDisk(string) (uint64, bool) { return 0, false }
