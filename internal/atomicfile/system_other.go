//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: who owns a file here follows from its folder.
func keepOwner(*os.File, fs.FileInfo) {}

// put gives f the name that it was written for. An open file cannot be renamed here.
func put(f *os.File, name string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
