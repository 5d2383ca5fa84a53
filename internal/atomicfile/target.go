package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// What cannot be written to, whatever its mode allows.
var (
	errFolder = errors.New("is a folder, expected a file")
	errDevice = errors.New("is a disk or another device, expected a file")
	errSocket = errors.New("is a socket, expected a file")
	errUnread = errors.New("is a pipe that no program reads: start its reader first")
)

// target is what a path leads to.
type target struct {
	name string      // behind all links
	old  fs.FileInfo // nil where nothing is there
}

// Check refuses what [Write] would refuse however much room there is: folders, disks and sockets.
func Check(path string) error {
	_, err := find(path)
	return inWordsOf(path, err)
}

// find follows links. One that leads to nothing yet says where the file will be.
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

// maxLinks is how many links lead on from each other at most.
const maxLinks = 40

// unmade follows links to the name of a file that is not there.
func unmade(path string) (string, error) {
	for range maxLinks {
		to, err := os.Readlink(path)
		if err != nil { // no link: the name itself
			return path, nil
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path)) // .. in a link is meant from where it lies
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "write", Path: path, Err: syscall.ELOOP}
}

// stream reports whether what is written is read at once: by a pipe, a terminal, /dev/null. It can only be written to, not
// be replaced.
func (t target) stream() bool {
	return t.old != nil && t.old.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0
}

// mode returns what a new file allows, before the process's mask takes some of it; a replaced one's stays.
func (t target) mode() fs.FileMode {
	if t.old == nil {
		return 0o644
	}
	return t.old.Mode().Perm()
}

// pour writes to a pipe or a terminal. It does not wait for a pipe's reader: none may ever come.
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
