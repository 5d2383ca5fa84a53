//go:build !unix

package regular

import "io/fs"

// noFollow is 0: this system has no such flag, and CheckOwn rejects links.
const noFollow = 0

// countNames returns 1: the number of hard links is unknown on this system.
func countNames(fs.FileInfo) uint64 { return 1 }
