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

// makeTemporaryPrefix returns the prefix of the names of a file's temporary files; a number follows.
func makeTemporaryPrefix(name string) string { return "." + filepath.Base(name) + ".tmp-" }

// createTemporary creates a file next to name and locks it while it is open. The lock distinguishes it from files of
// killed processes, see [sweepTemporary].
func createTemporary(name string, mode fs.FileMode) (*os.File, error) {
	for {
		at := filepath.Join(filepath.Dir(name), makeTemporaryPrefix(name)+strconv.FormatUint(uint64(rand.Uint32()), 10))
		f, err := os.OpenFile(at, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		held, err := lock.File(f)
		if err != nil { // a system without locks, where no file is swept
			return f, nil
		}
		if held && isStill(at, f) {
			return f, nil
		}
		f.Close() // another process removed the file before it was locked
		os.Remove(at)
	}
}

// sweepTemporary removes temporary files of killed processes from a folder: the temporary files of ours that are not
// locked. Files that cannot be removed stay; they only take up space.
func sweepTemporary(dir string, ours map[string]bool) {
	folder, err := os.Open(dir)
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, n := range names {
		name, _, _ := strings.Cut(strings.TrimPrefix(n, "."), ".tmp-")
		if at := filepath.Join(dir, n); ours[name] && Left(filepath.Join(dir, name), at) {
			removeStale(at)
		}
	}
}

// Left reports whether path has the name of a temporary file for name, as left by a killed process.
func Left(name, path string) bool {
	number, ok := strings.CutPrefix(filepath.Base(path), makeTemporaryPrefix(name))
	_, err := strconv.ParseUint(number, 10, 32)
	return ok && err == nil && filepath.Dir(path) == filepath.Dir(name)
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

// isStill reports whether path still names the open file f.
func isStill(path string, f *os.File) bool {
	there, err := os.Lstat(path)
	if err != nil {
		return false
	}
	open, err := f.Stat()
	return err == nil && os.SameFile(there, open)
}
