//go:build !linux

package live

// inTheBackground does nothing: only Linux gives a thread a priority of its own by its number.
func inTheBackground() {}
