package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// What cannot be written to, regardless of its mode.
var (
	errFolder = errors.New("is a folder, expected a file")
	errDevice = errors.New("is a disk or another device, expected a file")
	errSocket = errors.New("is a socket, expected a file")
	errUnread = errors.New("is a pipe that no program reads: start its reader first")
)

// target is what a path leads to.
type target struct {
	name string      // the path with all links followed
	old  fs.FileInfo // nil: nothing exists there
}

// Check returns the error that [Write] would return for folders, disks and sockets. It does not check free
// space.
func Check(path string) error {
	_, err := find(path)
	return inWordsOf(path, err)
}

// find follows links. For a link to nothing, it returns where the file would be created.
func find(path string) (target, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		name, err := unmade(path)
		return target{name: name}, err
	}
	if err != nil {
		return target{}, err
	}
	t := target{path, info}
	refused := func(why error) (target, error) { return t, &fs.PathError{Op: "write", Path: path, Err: why} }
	switch mode := info.Mode(); {
	case mode.IsRegular():
		t.name, err = filepath.EvalSymlinks(path)
		return t, err
	case t.stream():
		return t, nil
	case mode.IsDir():
		return refused(errFolder)
	case mode&fs.ModeSocket != 0:
		return refused(errSocket)
	}
	return refused(errDevice)
}

// maxLinks is the longest chain of links.
const maxLinks = 40

// unmade follows links to the name of a file that does not exist yet.
func unmade(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil { // not a link
			return path, nil
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // .. in a link is relative to the link's folder
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "write", Path: path, Err: syscall.ELOOP}
}

// stream reports whether the target is a pipe, a terminal or /dev/null, which can be written to but not
// replaced.
func (t target) stream() bool {
	return t.old != nil && t.old.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0
}

// mode returns the permissions of a new file, before the process's umask; a replaced file keeps its own.
func (t target) mode() fs.FileMode {
	if t.old == nil {
		return 0o644
	}
	return t.old.Mode().Perm()
}

// pour writes to a pipe or a terminal. It does not wait for a pipe's reader, which may never come.
func (t target) pour(write func(io.Writer) error) error {
	flags := os.O_WRONLY
	if t.old.Mode()&fs.ModeNamedPipe != 0 {
		flags |= syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(t.name, flags, 0)
	if errors.Is(err, syscall.ENXIO) {
		return &fs.PathError{Op: "write", Path: t.name, Err: errUnread}
	}
	if err != nil {
		return err
	}
	return errors.Join(filled(f, write), f.Close())
}
