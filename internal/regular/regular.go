// Package regular opens only regular files: opening a named pipe would wait for a writer, and a device may return
// endless data. It checks a name before opening it, and then checks the opened file.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// reading holds the flags for opening files. They prevent waiting for a writer if a pipe replaces the file between the
// check and the opening.
const reading = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens a regular file for reading. Symbolic links are followed.
func Open(name string) (*os.File, error) {
	f, err := openRegular(name, os.Stat, os.OpenFile)
	if err == nil {
		err = checkKind(f, name, fs.FileMode.IsRegular)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stream opens a regular file, or a pipe that the shell opened for the program. A pipe can be read only once.
func Stream(name string) (*os.File, error) {
	if name == "-" {
		name = "/dev/stdin"
	}
	if info, err := os.Stat(name); err == nil && Given(name) && info.Mode()&fs.ModeNamedPipe != 0 {
		return os.Open(name)
	}
	return Open(name)
}

// OpenOwn opens a file that winnow writes next to a user's data, as os.OpenFile does. The name may have come with the
// data, so symbolic links are not followed, and a file with several names is not opened for writing.
func OpenOwn(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := CheckOwn(name); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK|noFollow, perm)
	if err == nil {
		err = checkKind(f, name, fs.FileMode.IsRegular)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && flag&(os.O_WRONLY|os.O_RDWR) != 0 && countNames(info) > 1 {
		err = errors.New("has a second name (a hard link), expected a file with one name")
		return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: err}, f.Close())
	}
	return f, nil
}

// CheckOwn returns an error if something other than a regular file has this name.
func CheckOwn(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = refuseMode(name, info.Mode())
	}
	return err
}

// Exhausted reports whether an error means that the process or the system has too many open files.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Given reports whether a name denotes a file opened by the shell: standard input, or <(…).
func Given(name string) bool {
	return name == "-" || name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/")
}

// Most limits the size in bytes of a file that winnow wrote and reads as a whole: records, settings, lists.
const Most = 1 << 30

// ReadFile reads a regular file. A file with more than the given number of bytes is an error.
func ReadFile(name string, most int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("has more than %d bytes", most)}
	}
	return data, err
}

// From opens a regular file of any file system and returns its info.
func From(fsys fs.FS, name string) (fs.File, fs.FileInfo, error) {
	if s, ok := fsys.(fs.StatFS); ok && !OnlyFiles(fsys) {
		if info, err := s.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, nil, refuseMode(name, info.Mode())
		}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refuseMode(name, info.Mode())
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// OnlyFiles reports whether a file system declares that it has only files and folders. A name then need not be checked
// before it is opened, which saves a request to a server.
func OnlyFiles(fsys fs.FS) bool {
	t, ok := fsys.(interface{ OnlyFiles() bool })
	return ok && t.OnlyFiles()
}

// Dir is [os.DirFS], but opens only regular files and folders.
func Dir(dir string) fs.FS {
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	return tree{
		stat: func(name string) (fs.FileInfo, error) { return os.Stat(at(name)) },
		open: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			return os.OpenFile(at(name), flag, mode)
		},
	}
}

// Root is [os.Root.FS], but opens only regular files and folders.
func Root(root *os.Root) fs.FS { return tree{root.Stat, root.OpenFile} }

type tree struct {
	stat func(string) (fs.FileInfo, error)
	open func(string, int, fs.FileMode) (*os.File, error)
}

// Open implements [fs.FS].
func (t tree) Open(name string) (fs.File, error) {
	if err := checkPath("open", name); err != nil {
		return nil, err
	}
	f, err := openRegular(name, t.stat, t.open)
	if err == nil {
		err = checkKind(f, name, isServable)
	}
	if err != nil {
		return nil, setErrorPath(name, err)
	}
	return f, nil
}

// Stat implements [fs.StatFS].
func (t tree) Stat(name string) (fs.FileInfo, error) {
	if err := checkPath("stat", name); err != nil {
		return nil, err
	}
	info, err := t.stat(name)
	return info, setErrorPath(name, err)
}

func openRegular(name string, stat func(string) (fs.FileInfo, error),
	openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(name)
	if err != nil {
		return nil, err
	}
	if !isServable(info.Mode()) {
		return nil, refuseMode(name, info.Mode())
	}
	return openFile(name, reading, 0)
}

func isServable(mode fs.FileMode) bool { return mode.IsRegular() || mode.IsDir() }

// checkKind closes a file of an unexpected kind and returns an error.
func checkKind(f *os.File, name string, fits func(fs.FileMode) bool) error {
	info, err := f.Stat()
	if err == nil && !fits(info.Mode()) {
		err = refuseMode(name, info.Mode())
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// ErrName is the error for a file whose name is not UTF-8 and cannot be stored in lists, pages or databases.
var ErrName = errors.New("the name is not UTF-8 text: rename the file")

// checkPath is [fs.ValidPath] with the reason as an error.
func checkPath(op, name string) error {
	switch {
	case fs.ValidPath(name):
		return nil
	case !utf8.ValidString(name):
		return &fs.PathError{Op: op, Path: name, Err: ErrName}
	}
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
}

// setErrorPath sets the path of an error to the name inside the file system, as [os.DirFS] does.
func setErrorPath(name string, err error) error {
	if inPath, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: inPath.Op, Path: name, Err: inPath.Err}
	}
	return err
}

func refuseMode(name string, mode fs.FileMode) error {
	err := fmt.Errorf("is %s, expected a file", kindOf(mode))
	if Given(name) && mode&fs.ModeNamedPipe != 0 {
		err = fmt.Errorf("%w, because it is read more than once: write the data to a file first", err)
	}
	return &fs.PathError{Op: "open", Path: name, Err: err}
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "something else"
}
