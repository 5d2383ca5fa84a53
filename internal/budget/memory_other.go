//go:build !linux

package budget

// Available reports that the memory is not known here.
func Available() (int64, bool) { return 0, false }

// Peak returns 0: it is not known here.
func Peak() int64 { return 0 }
