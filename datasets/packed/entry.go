package packed

import (
	"bytes"
	"io"
	"io/fs"
	"time"
)

// Entry is a file or folder of a generated file tree: its [fs.FileInfo] and its [fs.DirEntry].
type Entry struct {
	Base   string
	Folder bool
	Bytes  int64 // of a file
}

func (e Entry) Name() string               { return e.Base }
func (e Entry) IsDir() bool                { return e.Folder }
func (e Entry) Size() int64                { return e.Bytes }
func (e Entry) ModTime() time.Time         { return time.Time{} }
func (e Entry) Sys() any                   { return nil }
func (e Entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e Entry) Info() (fs.FileInfo, error) { return e, nil }
func (e Entry) String() string             { return fs.FormatFileInfo(e) }

// Mode implements [fs.FileInfo]: everything is read-only.
func (e Entry) Mode() fs.FileMode {
	if e.Folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// File opens the entry as a file that holds data.
func (e Entry) File(data []byte) fs.File { return &file{e, bytes.NewReader(data)} }

// List opens the entry as a folder of count entries.
func (e Entry) List(count int, entry func(i int) Entry) fs.ReadDirFile {
	return &folder{Entry: e, count: count, entry: entry}
}

type file struct {
	Entry
	*bytes.Reader
}

func (f *file) Stat() (fs.FileInfo, error) { return f.Entry, nil }
func (f *file) Size() int64                { return f.Bytes }
func (f *file) Close() error               { return nil }

// folder is a folder and how far it has been listed.
type folder struct {
	Entry
	count, next int
	entry       func(i int) Entry
}

func (f *folder) Stat() (fs.FileInfo, error) { return f.Entry, nil }
func (f *folder) Close() error               { return nil }

func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.Base, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	left := f.count - f.next
	if n > 0 {
		if left == 0 {
			return nil, io.EOF
		}
		left = min(n, left)
	}
	list := make([]fs.DirEntry, left)
	for i := range list {
		list[i] = f.entry(f.next + i)
	}
	f.next += left
	return list, nil
}
