//go:build !linux

package live

// inTheBackground does nothing: only Linux can set the priority of a single thread this way.
func inTheBackground() {}
