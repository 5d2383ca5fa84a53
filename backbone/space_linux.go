package backbone

import "syscall"

// AddressSpace returns the limit of the process's address space (ulimit -v) in bytes, 0 where there is none.
func AddressSpace() uint64 {
	var limit syscall.Rlimit
	const unlimited = 1 << 62
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur > unlimited {
		return 0
	}
	return limit.Cur
}
