// Package location opens files and folders by location: paths of this machine, also as file:// addresses, and
// addresses in object stores. Requests to a store end with a context.
//
// A store is a [Tree], which can be read, and may be a [Sink], which accepts files. An object is written completely
// or not at all; there is no other way to write. Data that are written piece by piece, or as several files that
// belong together, are first built on this machine; then the files are put, last the one that refers to the others.
//
// The package itself talks to no store, so programs without one link no client. [Use] registers a store, as the
// command line does (winnow/bucket).
package location

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"winnow/internal/regular"
)

// File is an open file that can be read from the start or at any position.
type File interface {
	fs.File
	io.ReaderAt
}

// The schemes of addresses in object stores.
const (
	S3     = "s3"
	Google = "gs"
)

// IsRemote reports whether a name is an address in an object store.
func IsRemote(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && (scheme == S3 || scheme == Google)
}

// Tree is a folder of an object store.
type Tree interface {
	fs.StatFS
	fs.ReadDirFS
	Names(prefix string) iter.Seq2[string, error] // all files whose paths begin with prefix, sorted
}

// Sink is a folder of an object store that accepts files.
type Sink interface {
	Tree
	Put(name string, from io.ReaderAt, size int64) error // completely or not at all, replacing what was there
	Remove(name string) error                            // no error if there is none
}

// stores opens folders of object stores, and single files as trees whose only name is ".".
var stores atomic.Pointer[func(ctx context.Context, address string) (Tree, error)]

// Use sets the function that opens object stores in this process.
func Use(open func(ctx context.Context, address string) (Tree, error)) { stores.Store(&open) }

func open(ctx context.Context, name string) (Tree, error) {
	use := stores.Load()
	if use == nil {
		return nil, fmt.Errorf("location: %s: this program reads no object stores, expected one that has called "+
			"location.Use(bucket.Open)", name)
	}
	return (*use)(ctx, name)
}

// Local returns the path that a file:// address stands for. Other names are returned unchanged.
func Local(name string) string {
	inner, ok := strings.CutPrefix(name, "file://")
	inner = strings.TrimPrefix(inner, "localhost")
	plain, err := url.PathUnescape(inner)
	if !ok || err != nil || !strings.HasPrefix(inner, "/") {
		return name
	}
	return filepath.FromSlash(plain)
}

// Stat describes a file or folder.
func Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if !IsRemote(name) {
		return os.Stat(Local(name))
	}
	tree, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	return tree.Stat(".")
}

// Open opens a file; on this machine it must be a regular file.
func Open(ctx context.Context, name string) (File, error) {
	if !IsRemote(name) {
		return regular.Open(Local(name))
	}
	tree, err := open(ctx, name)
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
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.Join(err, f.Close())}
}

// Dir opens a folder.
func Dir(ctx context.Context, name string) (fs.FS, error) {
	if !IsRemote(name) {
		return regular.Dir(Local(name)), nil
	}
	return open(ctx, name)
}

// ReadDir lists a folder.
func ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if !IsRemote(name) {
		return os.ReadDir(Local(name))
	}
	tree, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	return tree.ReadDir(".")
}

// Put copies a file of this machine to an address in an object store.
func Put(ctx context.Context, name, file string) (err error) {
	to, err := sink(ctx, name)
	if err != nil {
		return err
	}
	f, err := regular.Open(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return to.Put(".", f, info.Size())
}

// Remove removes the object at an address, if there is one.
func Remove(ctx context.Context, name string) error {
	from, err := sink(ctx, name)
	if err != nil {
		return err
	}
	return from.Remove(".")
}

func sink(ctx context.Context, name string) (Sink, error) {
	tree, err := open(ctx, name)
	if err != nil {
		return nil, err
	}
	if s, ok := tree.(Sink); ok {
		return s, nil
	}
	return nil, fmt.Errorf("location: %s: can only be read", name)
}

// Names visits the files of an object store's folder whose paths begin with prefix, at any depth.
func Names(ctx context.Context, dir, prefix string, visit func(name string) error) error {
	tree, err := open(ctx, dir)
	if err != nil {
		return err
	}
	for name, err := range tree.Names(prefix) {
		if err == nil {
			err = visit(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Cut splits an address in an object store into scheme, path and options. For other names, everything is path.
func Cut(name string) (scheme, inner, options string) {
	if !IsRemote(name) {
		return "", Local(name), ""
	}
	inner, options = cutOptions(name)
	scheme, inner, _ = strings.Cut(inner, "://")
	return scheme + "://", inner, options
}

// Join returns the location of a slash-separated path in a folder.
func Join(dir, name string) string {
	scheme, inner, options := Cut(dir)
	if scheme == "" {
		return filepath.Join(inner, filepath.FromSlash(name))
	}
	return scheme + path.Join(inner, name) + options
}

// Parent returns the folder that contains a location.
func Parent(name string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return filepath.Dir(inner)
	}
	if !strings.Contains(inner, "/") { // a bucket has no parent
		return name
	}
	return scheme + path.Dir(inner) + options
}

// Base returns the last element of a location.
func Base(name string) string {
	_, inner, _ := Cut(name)
	return filepath.Base(inner)
}

// Rel returns the slash-separated path from a folder to a location below it.
func Rel(dir, name string) (string, error) {
	scheme, inner, _ := Cut(dir)
	_, below, _ := Cut(name)
	if scheme == "" {
		rel, err := filepath.Rel(inner, below)
		return filepath.ToSlash(rel), err
	}
	return strings.TrimPrefix(below, path.Clean(inner)+"/"), nil
}

// Clean returns the shortest form of a location, like [filepath.Clean].
func Clean(name string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return filepath.Clean(inner)
	}
	return scheme + path.Clean(inner) + options
}

// Absolute returns a location that does not depend on the working folder.
func Absolute(name string) (string, error) {
	if IsRemote(name) {
		return name, nil
	}
	return filepath.Abs(Local(name))
}

// Append returns a location with ending appended to its last element.
func Append(name, ending string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return inner + ending
	}
	return scheme + inner + ending + options
}

// TrimSuffix returns a location without an ending of its last element, if it has it.
func TrimSuffix(name, ending string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return strings.TrimSuffix(inner, ending)
	}
	return scheme + strings.TrimSuffix(inner, ending) + options
}

// cutOptions splits the options from an address, with their question mark. Because a question mark is also a
// wildcard, the options must begin with a known one.
func cutOptions(name string) (address, given string) {
	at := strings.LastIndexByte(name, '?')
	if at < 0 {
		return name, ""
	}
	if option, _, ok := strings.Cut(name[at+1:], "="); !ok || strings.ContainsAny(option, "/*[{.") {
		return name, ""
	}
	return name[:at], name[at:]
}
