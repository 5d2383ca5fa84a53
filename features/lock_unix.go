//go:build unix

package features

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder holds the folder for one writer. The system lets go of it when the process dies, however it
// dies, so a killed run leaves nothing to clean up; the empty file itself stays.
func lockFolder(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		f.Close()
		return nil, fmt.Errorf("another winnow is writing this store")
	case err != nil: // some network file systems know no locks: going on is better than refusing
		return f, nil
	}
	return f, nil
}

func unlockFolder(f *os.File) { f.Close() }
