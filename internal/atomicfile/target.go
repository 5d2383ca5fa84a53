package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// What cannot be written to, regardless of its mode.
var (
	errFolder = errors.New("is a folder, expected a file")
	errDevice = errors.New("is a disk or another device, expected a file")
	errSocket = errors.New("is a socket, expected a file")
	errUnread = errors.New("is a pipe that no program reads: start its reader first")
)

// target is a file to write.
type target struct {
	path   string
	stream bool        // a pipe, a terminal, /dev/null or what the shell has opened: written to, not replaced
	pipe   bool        // its reader may never come
	old    bool        // a file is there, whose mode is kept
	mode   fs.FileMode // permissions; of a new file before the process's umask
}

// Check returns the error that [Write] would return for folders, disks and sockets. It does not check free
// space.
func Check(path string) error {
	_, err := findTarget(path)
	return inWordsOf(path, err)
}

// isOpenedByShell reports whether the shell has opened what the path names. Such a name is a link that is followed.
func isOpenedByShell(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/")
}

func findTarget(path string) (target, error) {
	t := target{path: path, mode: 0o644}
	stat := os.Lstat
	if isOpenedByShell(path) {
		stat, t.stream = os.Stat, true
	}
	info, err := stat(path)
	if errors.Is(err, fs.ErrNotExist) && !t.stream {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	refused := func(why error) (target, error) { return t, &fs.PathError{Op: "write", Path: path, Err: why} }
	switch mode := info.Mode(); {
	case mode.IsRegular():
		t.old, t.mode = true, mode.Perm()
	case mode&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
		t.stream, t.pipe = true, mode&fs.ModeNamedPipe != 0
	case mode&fs.ModeSymlink != 0:
		if to, err := os.Stat(path); err == nil && to.IsDir() {
			return refused(errFolder)
		}
	case mode.IsDir():
		return refused(errFolder)
	case mode&fs.ModeSocket != 0:
		return refused(errSocket)
	default:
		return refused(errDevice)
	}
	return t, nil
}

// pourStream writes to a stream. It does not wait for a pipe's reader, which may never come.
func (t target) pourStream(write func(io.Writer) error) error {
	flags := os.O_WRONLY | os.O_APPEND
	if t.pipe {
		flags |= syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(t.path, flags, 0)
	if errors.Is(err, syscall.ENXIO) {
		return &fs.PathError{Op: "write", Path: t.path, Err: errUnread}
	}
	if err != nil {
		return err
	}
	return errors.Join(fillFile(f, write), f.Close())
}
