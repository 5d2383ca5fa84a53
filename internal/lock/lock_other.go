//go:build !unix

package lock

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// File returns false: this system has no lock that ends with its process, so the writer of a file is unknown.
func File(*os.File) (bool, error) { return false, errors.ErrUnsupported }

// holdFolder creates the lock file, which must not exist. A killed process leaves the file behind; the error says how
// to proceed.
func holdFolder(dir, name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &Held{Dir: dir, Else: "; if no winnow is running, remove " + name}
	}
	if err != nil {
		return nil, err
	}
	return folder{f}, nil
}

// folder is a held folder.
type folder struct{ file *os.File }

// Close unlocks the folder.
func (f folder) Close() error { return errors.Join(f.file.Close(), os.Remove(f.file.Name())) }
