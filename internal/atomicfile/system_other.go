//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: here the owner of a file follows from its folder.
func keepOwner(*os.File, fs.FileInfo) {}

// put renames f to its final name. An open file cannot be renamed here, so it is closed first.
func put(f *os.File, name string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
