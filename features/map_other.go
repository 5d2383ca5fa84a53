//go:build !unix

package features

import "os"

// MapFloats returns nil: on this system, files are read in blocks instead of mapped.
func MapFloats(*os.File, int64) ([]float32, func() error) { return nil, nil }

// ReleasePages does nothing, because no file is mapped.
func ReleasePages() {}
