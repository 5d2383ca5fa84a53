package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/internal/lock"
)

// beside begins the names of the temporary files of a file; a number ends them.
func beside(name string) string { return "." + filepath.Base(name) + ".tmp-" }

// temporary makes a file beside name and holds it while it is open, so that [sweep] can tell it from one that a killed
// process left.
func temporary(name string, mode fs.FileMode) (*os.File, error) {
	for {
		at := filepath.Join(filepath.Dir(name), beside(name)+strconv.FormatUint(uint64(rand.Uint32()), 10))
		f, err := os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		held, err := lock.File(f)
		if err != nil { // no locks here, and so nothing is swept
			return f, nil
		}
		if held && isStill(at, f) {
			return f, nil
		}
		f.Close() // another process is sweeping, and came between making and holding it
		os.Remove(at)
	}
}

// sweep removes what killed processes left beside a file: what has the name of a temporary file, and no process
// holds. What cannot be removed stays, as it does no harm but to take room.
func sweep(name string) {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, n := range names {
		number, ok := strings.CutPrefix(n, beside(name))
		if _, err := strconv.ParseUint(number, 10, 32); ok && err == nil {
			removeStale(filepath.Join(filepath.Dir(name), n))
		}
	}
}

func removeStale(path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if held, err := lock.File(f); err == nil && held && isStill(path, f) {
		os.Remove(path)
	}
}

// isStill reports whether path names the open file f.
func isStill(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(there, open)
}
