// Package bucket reads the objects of a bucket as files. It speaks the protocol of Amazon's S3, which many other
// servers and Google Cloud Storage understand too; for Google it can use Google's own tokens. Objects are written
// and removed as a whole ([Tree.Put]).
//
// Reading a file from its start takes one request. ReadAt fetches blocks, which are cached; if reads are
// sequential, several blocks are fetched at once. A request that breaks off is resumed where it broke.
package bucket

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"winnow/datasets/location"

	"github.com/minio/minio-go/v7"
)

// Tree presents the objects below an address as a file tree. All its requests end with its context.
type Tree struct {
	ctx context.Context
	c   *client
	key string // of the folder; "" for the whole bucket
}

// Open opens a folder of objects, or a single object as a tree whose only name is ".", as [location.Use] needs. It
// sends no request.
func Open(ctx context.Context, at location.Source) (location.Tree, error) {
	c, err := clientOf(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Tree{ctx, c, at.Key()}, nil
}

// makeKeyAt returns the key of a file name.
func (t *Tree) makeKeyAt(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return strings.TrimPrefix(path.Join("/", t.key, name), "/"), nil
}

// Open implements fs.FS. Files also implement io.ReaderAt.
func (t *Tree) Open(name string) (fs.File, error) {
	key, err := t.makeKeyAt("open", name)
	if err != nil {
		return nil, err
	}
	o := t.c.getKnownObject(key)
	if o == nil && key != "" { // the answer to a read describes the object too
		body, i, err := t.c.getObject(t.ctx, key, "", 0, 0)
		if err == nil {
			return &file{t.ctx, t.c, t.c.rememberObject(objectOf(i)), body, 0}, nil
		}
		if err = t.c.explainKeyError(t.ctx, "open", key, err); !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if o == nil {
		if o, err = t.c.statFolder(t.ctx, key); err != nil {
			return nil, err
		}
	}
	f := &file{ctx: t.ctx, c: t.c, o: o}
	if o.folder {
		return &folder{file: f}, nil
	}
	return f, nil
}

// OnlyFiles reports that a bucket contains no pipes ([regular.OnlyFiles]).
func (t *Tree) OnlyFiles() bool { return true }

// Stat implements fs.StatFS.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	key, err := t.makeKeyAt("stat", name)
	if err != nil {
		return nil, err
	}
	o, err := t.c.statKey(t.ctx, key)
	if err != nil {
		return nil, err
	}
	return info{o}, nil
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	key, err := t.makeKeyAt("readdir", name)
	if err != nil {
		return nil, err
	}
	var list []fs.DirEntry
	for o, err := range t.c.listObjects(t.ctx, makeKeyPrefix(key), false) {
		if err != nil {
			return nil, err
		}
		list = append(list, info{o})
	}
	if len(list) == 0 && key != "" {
		return nil, &fs.PathError{Op: "readdir", Path: t.c.root + "/" + key, Err: fs.ErrNotExist}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	// An object "a" and a folder "a/" give one entry.
	return slices.CompactFunc(list, func(a, b fs.DirEntry) bool { return a.Name() == b.Name() }), nil
}

// Names lists the names of all objects of the tree that begin with prefix, sorted.
func (t *Tree) Names(prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		base := makeKeyPrefix(t.key)
		for o, err := range t.c.listObjects(t.ctx, base+prefix, true) {
			if err != nil {
				yield("", err)
				return
			}
			if !yield(strings.TrimPrefix(o.key, base), nil) {
				return
			}
		}
	}
}

// listObjects lists and remembers the objects whose keys begin with prefix: all of them if deep, else one level with
// its folders. It skips keys that are not valid file paths, which S3 permits.
func (c *client) listObjects(ctx context.Context, prefix string, deep bool) iter.Seq2[*object, error] {
	return func(yield func(*object, error) bool) {
		inner, stop := context.WithCancel(ctx)
		defer stop()
		for i := range c.core.ListObjectsIter(inner, c.name,
			minio.ListObjectsOptions{Prefix: prefix, Recursive: deep}) {
			if i.Err != nil {
				yield(nil, c.explainKeyError(ctx, "list", prefix, i.Err))
				return
			}
			o := objectOf(i)
			if strings.HasSuffix(o.key, "/") {
				if deep || o.key == prefix { // the marker object of a folder
					continue
				}
				o = &object{key: strings.TrimSuffix(o.key, "/"), folder: true}
			}
			if !fs.ValidPath(o.key) {
				continue
			}
			if !yield(c.rememberObject(o), nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// folder is an open folder and what is left to list of it.
type folder struct {
	*file
	list []fs.DirEntry
	read bool
}

// ReadDir implements fs.ReadDirFile.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !f.read {
		t := &Tree{f.ctx, f.c, f.o.key}
		list, err := t.ReadDir(".")
		if err != nil {
			return nil, err
		}
		f.list, f.read = list, true
	}
	if n <= 0 {
		list := f.list
		f.list = nil
		return list, nil
	}
	if len(f.list) == 0 {
		return nil, io.EOF
	}
	list := f.list[:min(n, len(f.list))]
	f.list = f.list[len(list):]
	return list, nil
}
