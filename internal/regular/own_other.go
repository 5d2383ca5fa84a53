//go:build !unix

package regular

import "io/fs"

// noFollow is no flag here: CheckOwn refuses links.
const noFollow = 0

// countNames returns 1: the number of names is not known here.
func countNames(fs.FileInfo) uint64 { return 1 }
