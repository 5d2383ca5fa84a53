//go:build !unix

package diagnosis

// FreeDisk reports that the space is not known here.
func FreeDisk(string) (uint64, bool) { return 0, false }
