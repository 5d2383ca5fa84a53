// Package location opens files and folders by where they lie: paths of this machine, also as file:// addresses, and addresses in
// object stores. What is asked of a store ends with a context.
//
// A store is a [Tree], which is read, and where it takes files a [Sink]: an object is put whole or not at all, and there is no other way to
// write. What is written bit by bit, or in several files that belong together, is made on this machine first; then its files are put,
// the one last by which the others are found.
//
// It speaks to no store itself, so that programs without one link no client: [Use] gives it one, as the command line does
// (winnow/bucket).
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

// File is a file that is open for reading, from its beginning or from anywhere.
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
	Names(prefix string) iter.Seq2[string, error] // of all its files whose paths begin so, sorted
}

// Sink is a folder of an object store that takes files.
type Sink interface {
	Tree
	Put(name string, from io.ReaderAt, size int64) error // whole or not at all, in the place of what was there
	Remove(name string) error                            // does nothing where there is none
}

// stores opens folders of object stores, and files as trees whose name is ".".
var stores atomic.Pointer[func(ctx context.Context, address string) (Tree, error)]

// Use says what opens object stores in this process.
func Use(open func(ctx context.Context, address string) (Tree, error)) { stores.Store(&open) }

func open(ctx context.Context, name string) (Tree, error) {
	use := stores.Load()
	if use == nil {
		return nil, fmt.Errorf("location: %s: this program reads no object stores, expected one that has called location.Use(bucket.Open)", name)
	}
	return (*use)(ctx, name)
}

// Local returns the path that a file:// address stands for; other names are left alone.
func Local(name string) string {
	inner, ok := strings.CutPrefix(name, "file://")
	inner = strings.TrimPrefix(inner, "localhost")
	plain, err := url.PathUnescape(inner)
	if !ok || err != nil || !strings.HasPrefix(inner, "/") {
		return name
	}
	return filepath.FromSlash(plain)
}

// Stat describes what lies somewhere.
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

// Open opens a file, of this machine a regular one.
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

// Remove removes what lies at an address in an object store, if anything does.
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

// Names lists the files of a folder of an object store whose paths in it begin so, at any depth.
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

// Cut cuts an address in an object store in its scheme, its path and its options; of other names all is path.
func Cut(name string) (scheme, inner, options string) {
	if !IsRemote(name) {
		return "", Local(name), ""
	}
	inner, options = cutOptions(name)
	scheme, inner, _ = strings.Cut(inner, "://")
	return scheme + "://", inner, options
}

// Join returns where a slash-separated path in a folder lies.
func Join(dir, name string) string {
	scheme, inner, options := Cut(dir)
	if scheme == "" {
		return filepath.Join(inner, filepath.FromSlash(name))
	}
	return scheme + path.Join(inner, name) + options
}

// Parent returns the folder that something lies in.
func Parent(name string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return filepath.Dir(inner)
	}
	if !strings.Contains(inner, "/") { // a bucket lies in none
		return name
	}
	return scheme + path.Dir(inner) + options
}

// Base returns the last name of a location.
func Base(name string) string {
	_, inner, _ := Cut(name)
	return filepath.Base(inner)
}

// Rel returns the slash-separated path from a folder to what lies below it.
func Rel(dir, name string) (string, error) {
	scheme, inner, _ := Cut(dir)
	_, below, _ := Cut(name)
	if scheme == "" {
		rel, err := filepath.Rel(inner, below)
		return filepath.ToSlash(rel), err
	}
	return strings.TrimPrefix(below, path.Clean(inner)+"/"), nil
}

// Clean returns the shortest form of a location, as [filepath.Clean] does.
func Clean(name string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return filepath.Clean(inner)
	}
	return scheme + path.Clean(inner) + options
}

// Absolute returns a location as it is called from every folder.
func Absolute(name string) (string, error) {
	if IsRemote(name) {
		return name, nil
	}
	return filepath.Abs(Local(name))
}

// Append returns a location whose last name has an ending more.
func Append(name, ending string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return inner + ending
	}
	return scheme + inner + ending + options
}

// TrimSuffix returns a location whose last name lacks an ending, if it has it.
func TrimSuffix(name, ending string) string {
	scheme, inner, options := Cut(name)
	if scheme == "" {
		return strings.TrimSuffix(inner, ending)
	}
	return scheme + strings.TrimSuffix(inner, ending) + options
}

// cutOptions cuts the options from an address, with their question mark: what begins with a known one, since a question mark
// is also a wildcard.
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
