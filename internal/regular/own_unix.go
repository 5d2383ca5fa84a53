//go:build unix

package regular

import (
	"io/fs"
	"syscall"
)

// noFollow refuses to open a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// countNames returns how many names (hard links) a file has.
func countNames(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
