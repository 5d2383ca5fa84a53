//go:build !linux

package budget

// Available returns false: the available memory is unknown on this system.
func Available() (int64, bool) { return 0, false }

// Peak returns 0: the memory used is unknown on this system.
func Peak() int64 { return 0 }
