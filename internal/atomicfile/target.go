package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Errors for paths that cannot be written to, regardless of their mode.
var (
	errFolder = errors.New("is a folder, expected a file")
	errDevice = errors.New("is a disk or another device, expected a file")
	errSocket = errors.New("is a socket, expected a file")
	errUnread = errors.New("is a pipe without a reader: start its reader first")
)

// target is a file to write.
type target struct {
	path   string
	stream bool        // written to, not replaced: pipe, terminal, /dev/null, opened by the shell
	pipe   bool        // a named pipe, which may have no reader
	old    bool        // a file exists, and its mode is kept
	mode   fs.FileMode // permissions; for a new file before applying the umask
}

// Check returns the error that [Write] would return for folders, disks and sockets. It does not check the free space.
func Check(path string) error {
	_, err := findTarget(path)
	return inWordsOf(path, err)
}

// isOpenedByShell reports whether a path names a file opened by the shell. Such a path is a link and is followed.
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

// pourStream writes to a stream. It does not wait for the reader of a pipe, because the reader may never start.
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
