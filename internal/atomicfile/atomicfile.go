// Package atomicfile replaces files atomically: a path holds either the old content or the new one, never a part.
package atomicfile

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write calls write with a buffered temporary file beside path, syncs it and renames it to path. On any
// error path keeps what it held before and the temporary file is removed.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
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
	w := bufio.NewWriterSize(f, 1<<16)
	if err = write(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// inWordsOf turns an error about the temporary file, whose name means nothing to users, into one about the file at path.
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

// syncDir makes the rename itself durable where the system allows syncing a directory.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	_ = d.Sync() // not every file system can; the rename has happened either way
	return nil
}
