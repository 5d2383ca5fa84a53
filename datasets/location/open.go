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

// File is an open file that can be read sequentially or at any offset.
type File interface {
	fs.File
	io.ReaderAt
}

// Tree is a folder of an object store.
type Tree interface {
	fs.StatFS
	fs.ReadDirFS
	Names(prefix string) iter.Seq2[string, error] // all files whose paths start with prefix, sorted
}

// stores opens a folder of an object store, or a single file as a tree with the only name ".".
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
		return nil, fmt.Errorf("location: %s: this program cannot read object stores, because it has not called "+
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

// Open opens a file, which on this machine must be a regular file.
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

// Stream opens a file that is read only once and may be a pipe ([Source.IsPipe]).
func (s Source) Stream(ctx context.Context) (io.ReadCloser, error) {
	if s.IsRemote() {
		return s.Open(ctx)
	}
	return regular.Stream(s.path)
}

// IsPipe reports whether a source was opened by the shell: standard input or <(…).
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

// Names lists the files at any depth in an object store's folder whose paths start with prefix.
func (s Source) Names(ctx context.Context, prefix string) iter.Seq2[string, error] {
	tree, err := s.openStoreTree(ctx)
	if err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return tree.Names(prefix)
}
