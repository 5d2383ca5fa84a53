// Package atomicfile replaces files atomically: a path holds either the old content or the new one, never a
// part. Links are followed, a replaced file keeps its mode and owner, and temporary files left by killed
// processes are removed when the file is next written. Pipes and terminals have no old content; they are
// written to directly.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Write calls write with a buffered temporary file next to path, syncs it and renames it to path. On any error
// path keeps its old content and the temporary file is removed.
func Write(path string, write func(io.Writer) error) error {
	to, err := find(path)
	switch {
	case err != nil:
		return inWordsOf(path, err)
	case to.stream():
		return inWordsOf(path, to.pour(write))
	}
	sweep(to.name)
	return to.replace(path, write)
}

// WriteOwn is [Write] for a file that winnow keeps next to somebody's data. What has come there with the data, such as
// a link or a pipe, is replaced, never followed or written to.
func WriteOwn(path string, write func(io.Writer) error) error {
	t := target{name: path}
	info, err := os.Lstat(path)
	if err == nil && info.IsDir() {
		return &fs.PathError{Op: "write", Path: path, Err: errFolder}
	}
	if err == nil && info.Mode().IsRegular() {
		t.old = info
	}
	sweep(path)
	return t.replace(path, write)
}

// WriteAll writes files into a folder, by name, as [Write] does. Errors begin with the name.
func WriteAll(dir string, files map[string]func(io.Writer) error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := Write(filepath.Join(dir, name), files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// WriteMany writes files below a folder, which it creates, each whole or not at all. Unlike [Write] it does not wait
// until each is on the disk, which takes minutes for ten thousand files: after a power failure files may be missing or
// empty, so it is for copies that can be made again.
func WriteMany(dir string, names []string, write func(i int, w io.Writer) error) error {
	ours, swept := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		ours[filepath.Join(dir, filepath.FromSlash(name))] = true
	}
	for i, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		to := filepath.Dir(path)
		if !swept[to] {
			if err := os.MkdirAll(to, 0o755); err != nil {
				return err
			}
			sweepAll(to, ours)
			swept[to] = true
		}
		t, err := find(path)
		if err != nil {
			return inWordsOf(path, err)
		}
		if err := t.exchange(path, func(w io.Writer) error { return write(i, w) }, false); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for to := range swept {
		if err := SyncDir(to); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a new file next to the old one, renames it into place, and waits until it is on the disk.
func (t target) replace(path string, write func(io.Writer) error) error {
	if err := t.exchange(path, write, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(t.name))
}

// exchange writes a new file next to the old one and renames it into place.
func (t target) exchange(path string, write func(io.Writer) error, synced bool) (err error) {
	f, err := temporary(t.name, t.mode())
	if err != nil {
		return inWordsOf(path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			if strings.Contains(err.Error(), f.Name()) {
				err = inWordsOf(path, err)
			}
		}
	}()
	if err = filled(f, write); err != nil {
		return err
	}
	if t.old != nil {
		keepOwner(f, t.old)
		if err = f.Chmod(t.mode()); err != nil {
			return err
		}
	}
	if synced {
		if err = f.Sync(); err != nil {
			return err
		}
	}
	return put(f, t.name)
}

// filled calls write with a buffer in front of f.
func filled(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// inWordsOf turns an error about the temporary file, whose name means nothing to users, into one about the file
// at path.
func inWordsOf(path string, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	case *os.LinkError:
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	}
	return err
}

// WriteBytes writes data as [Write] does.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// SyncDir makes renames and removals in a directory durable, if the system can sync a directory. A directory
// that cannot be read, and so not opened for syncing, is skipped.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // not every file system can do this; the rename has happened anyway
	return nil
}
