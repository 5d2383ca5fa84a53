//go:build !linux

package backbone

// AddressSpace returns 0: no limit is known here.
func AddressSpace() uint64 { return 0 }
