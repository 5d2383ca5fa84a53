// Package atomicfile replaces files atomically: a path holds the old content or the new content, never a part. A
// symbolic link is replaced and not followed, because a link that came with the data must not lead to a file elsewhere.
// A replaced file keeps its mode. Temporary files left by killed processes are removed when the file is next written.
// Pipes, terminals and files opened by the shell (/dev/stdout, /dev/fd/3) are written to directly.
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
	"runtime"
	"slices"
	"strings"
)

// Write calls write with a buffered temporary file next to path, syncs the file and renames it to path. On any error,
// path keeps its old content and the temporary file is removed.
func Write(path string, write func(io.Writer) error) error {
	to, err := findTarget(path)
	if err == nil && to.stream {
		err = to.pourStream(write)
	} else if err == nil {
		return to.replaceFile(write)
	}
	return inWordsOf(path, err)
}

// replaceFile writes a new file, renames it to the path, and waits until it is on disk.
func (t target) replaceFile(write func(io.Writer) error) error {
	sweepTemporary(filepath.Dir(t.path), map[string]bool{filepath.Base(t.path): true})
	if err := t.exchangeFile(write, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(t.path))
}

// WriteAll writes files into a folder, by name, as [Write] does. An error starts with the file's name.
func WriteAll(dir string, files map[string]func(io.Writer) error) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := Write(filepath.Join(dir, name), files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// exchangeFile writes a new file next to the old one and renames it to the path.
func (t target) exchangeFile(write func(io.Writer) error, synced bool) (err error) {
	f, err := createTemporary(t.path, t.mode)
	if err != nil {
		return inWordsOf(t.path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			if strings.Contains(err.Error(), f.Name()) {
				err = inWordsOf(t.path, err)
			}
		}
	}()
	if err = fillFile(f, write); err != nil {
		return err
	}
	if t.old {
		if err = f.Chmod(t.mode); err != nil {
			return err
		}
	}
	if synced {
		if err = f.Sync(); err != nil {
			return err
		}
	}
	if runtime.GOOS == "windows" { // which cannot rename an open file
		if err = f.Close(); err != nil {
			return err
		}
		return os.Rename(f.Name(), t.path)
	}
	if err = os.Rename(f.Name(), t.path); err != nil { // still locked, see sweepTemporary
		return err
	}
	return f.Close()
}

// fillFile calls write with a buffered writer to f.
func fillFile(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// inWordsOf turns an error about the temporary file, whose name means nothing to users, into an error about path.
func inWordsOf(path string, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	case *os.LinkError:
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	}
	return err
}

// WriteBytes writes data to path as [Write] does.
func WriteBytes(path string, data []byte) error {
	return Write(path, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// SyncDir makes renames and removals in a directory durable, if the system can sync directories. It skips a directory
// that cannot be opened for reading.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // some file systems cannot sync a directory; the rename is done anyway
	return nil
}
