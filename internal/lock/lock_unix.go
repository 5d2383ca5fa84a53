//go:build unix

package lock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// File locks an open file until it is closed. It returns false if another process holds the lock, and an error if the
// file system does not support locks.
func File(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return err == nil, err
	}
}

func holdFolder(dir, name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	held, err := File(f)
	if err == nil && !held {
		defer f.Close()
		return nil, &Held{Dir: dir, PID: writtenBy(f)}
	}
	// Some network file systems do not support locks; continuing is better than refusing.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintln(f, os.Getpid()) // on a full disk only the number is lost, not the lock
	}
	return folder{f}, nil
}

// writtenBy returns the process number in a lock file.
func writtenBy(f *os.File) int {
	text := make([]byte, 20)
	n, _ := f.ReadAt(text, 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	return pid
}

// folder is a locked folder. Its lock file is never removed: otherwise two processes could lock different files with
// the same name.
type folder struct{ file *os.File }

// Close unlocks the folder.
func (f folder) Close() error { return errors.Join(f.file.Truncate(0), f.file.Close()) }
