//go:build !unix

package features

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lockFolder holds the folder for one writer by creating a file that must not be there. A killed run
// leaves it behind, and the message says so: these systems have no lock that dies with its process.
func lockFolder(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("another winnow is writing this store; if none runs, remove %s", name)
	}
	return f, err
}

func unlockFolder(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
