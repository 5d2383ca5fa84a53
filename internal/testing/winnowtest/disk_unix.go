//go:build unix

package winnowtest

import "syscall"

// freeDisk returns the number of bytes that this user may still write to the folder's disk.
func freeDisk(folder string) (uint64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
