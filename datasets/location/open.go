package location

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"sync/atomic"

	"winnow/internal/regular"
)

// File is an open file that can be read from the start or at any position.
type File interface {
	fs.File
	io.ReaderAt
}

// Tree is a folder of an object store.
type Tree interface {
	fs.StatFS
	fs.ReadDirFS
	Names(prefix string) iter.Seq2[string, error] // all files whose paths begin with prefix, sorted
}

// stores opens folders of object stores, and single files as trees whose only name is ".".
var stores atomic.Pointer[func(ctx context.Context, at Source) (Tree, error)]

// Use sets the function that opens object stores in this process.
func Use(open func(ctx context.Context, at Source) (Tree, error)) { stores.Store(&open) }

// openStoreTree opens a source in an object store.
func (s Source) openStoreTree(ctx context.Context) (Tree, error) {
	if s.err != nil {
		return nil, s.err
	}
	use := stores.Load()
	if use == nil {
		return nil, fmt.Errorf("location: %s: this program reads no object stores, expected one that has called "+
			"location.Use(bucket.Open)", s)
	}
	return (*use)(ctx, s)
}

// Stat describes a file or folder.
func (s Source) Stat(ctx context.Context) (fs.FileInfo, error) {
	if !s.IsRemote() {
		return os.Stat(s.path)
	}
	tree, err := s.openStoreTree(ctx)
	if err != nil {
		return nil, err
	}
	return tree.Stat(".")
}

// Open opens a file; on this machine it must be a regular file.
func (s Source) Open(ctx context.Context) (File, error) {
	if !s.IsRemote() {
		return regular.Open(s.path)
	}
	tree, err := s.openStoreTree(ctx)
	if err != nil {
		return nil, err
	}
	f, err := tree.Open(".")
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if file, ok := f.(File); ok && err == nil && !info.IsDir() {
		return file, nil
	}
	err = cmp.Or(err, errors.New("is a folder, expected a file"))
	return nil, &fs.PathError{Op: "open", Path: s.String(), Err: errors.Join(err, f.Close())}
}

// Stream opens a file that is read only once, which may be a pipe ([Source.IsPipe]).
func (s Source) Stream(ctx context.Context) (io.ReadCloser, error) {
	if s.IsRemote() {
		return s.Open(ctx)
	}
	return regular.Stream(s.path)
}

// IsPipe reports whether the shell opened the source for the program: standard input, or <(…).
func (s Source) IsPipe() bool { return !s.IsRemote() && regular.Given(s.path) }

// Dir opens a folder.
func (s Source) Dir(ctx context.Context) (fs.FS, error) {
	if !s.IsRemote() {
		return regular.Dir(s.path), nil
	}
	return s.openStoreTree(ctx)
}

// ReadDir lists a folder.
func (s Source) ReadDir(ctx context.Context) ([]fs.DirEntry, error) {
	if !s.IsRemote() {
		return os.ReadDir(s.path)
	}
	tree, err := s.openStoreTree(ctx)
	if err != nil {
		return nil, err
	}
	return tree.ReadDir(".")
}

// Names lists the files of a folder in an object store whose paths begin with prefix, at any depth.
func (s Source) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	tree, err := s.openStoreTree(ctx)
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return tree.Names(prefix)
}
