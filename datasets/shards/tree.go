package shards

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"winnow/internal/regular"
)

// FS returns a file tree in which a path may continue inside a tar or Parquet file as if that file were a folder:
// shards/00.tar/heron/1.jpg is heron/1.jpg in shards/00.tar, and 00.parquet/image/000017.jpg is the value of column
// image in row 17, counted from 0. The index of a shard is built on first use and kept; the shard itself is reopened
// for each image.
func FS(files fs.FS) fs.FS { return &tree{files: files, shards: map[string]*shard{}} }

type tree struct {
	files  fs.FS
	mu     sync.RWMutex
	shards map[string]*shard // shards by path
	pages  PageCache
}

// shard is the index of a shard. It is rebuilt when the file changes.
type shard struct {
	mu      sync.Mutex
	kind    Kind
	size    int64
	changed time.Time
	tar     tarIndex
	parquet *ParquetFile
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	if s, file, inner := t.findKnownShard(name); s != nil {
		return t.openWithin(s, file, inner)
	}
	f, err := t.files.Open(name)
	if err == nil {
		return f, nil
	}
	if s, file, inner := t.findShard(name); s != nil {
		return t.openWithin(s, file, inner)
	}
	return nil, err
}

// OnlyFiles implements the interface used by [regular.OnlyFiles].
func (t *tree) OnlyFiles() bool { return regular.OnlyFiles(t.files) }

// Stat implements fs.StatFS.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	if s, _, _ := t.findKnownShard(name); s == nil {
		info, err := fs.Stat(t.files, name)
		if err == nil {
			return info, nil
		}
		if s, _, _ := t.findShard(name); s == nil {
			return nil, err
		}
	}
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return info, errors.Join(err, f.Close())
}

// findKnownShard returns the shard that a path goes through, if the shard was found earlier.
func (t *tree) findKnownShard(name string) (s *shard, file, inner string) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.shards) == 0 {
		return nil, "", ""
	}
	for i := range len(name) {
		if name[i] == '/' {
			if s := t.shards[name[:i]]; s != nil {
				return s, name[:i], name[i+1:]
			}
		}
	}
	return nil, "", ""
}

// findShard returns the shard that a path goes through: the first element of the path that is a file.
func (t *tree) findShard(name string) (s *shard, file, inner string) {
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		info, err := fs.Stat(t.files, name[:i])
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return nil, "", ""
		}
		if info.IsDir() {
			continue
		}
		f, err := t.files.Open(name[:i])
		if err != nil {
			return nil, "", ""
		}
		kind, err := readKind(f)
		if cerr := f.Close(); err != nil || cerr != nil || kind == None {
			return nil, "", ""
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.shards[name[:i]] == nil {
			t.shards[name[:i]] = &shard{kind: kind}
		}
		return t.shards[name[:i]], name[:i], name[i+1:]
	}
	return nil, "", ""
}

// openWithin opens a file in a shard.
func (t *tree) openWithin(s *shard, file, inner string) (_ fs.File, err error) {
	f, err := t.files.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = &fs.PathError{Op: "open", Path: file + "/" + inner, Err: errors.Join(err, f.Close())}
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	src, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("%s is in a zip file, where shards cannot be read: unpack the zip file", file)
	}
	index, table, err := s.openShard(src, info)
	if err != nil {
		return nil, err
	}
	entry := member{FileInfo: info, name: path.Base(inner)}
	if s.kind == Parquet {
		data, err := table.Image(src, &t.pages, inner)
		if err != nil {
			return nil, err
		}
		entry.size = int64(len(data))
		return &opened{entry, io.NewSectionReader(bytes.NewReader(data), 0, entry.size), f}, nil
	}
	m, ok := index[inner]
	if !ok {
		return nil, fs.ErrNotExist
	}
	entry.size = m.size
	return &opened{entry, io.NewSectionReader(src, m.at, m.size), f}, nil
}

// openShard returns the index of a shard. It builds the index on first use and after a change of the file.
func (s *shard) openShard(src io.ReaderAt, info fs.FileInfo) (_ tarIndex, _ *ParquetFile, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size == info.Size() && s.changed.Equal(info.ModTime()) && (s.tar != nil || s.parquet != nil) {
		return s.tar, s.parquet, nil
	}
	s.tar, s.parquet = nil, nil
	if s.kind == Parquet {
		s.parquet, err = OpenParquet(src, info.Size())
	} else {
		s.tar, err = readTarIndex(src, info.Size())
	}
	s.size, s.changed = info.Size(), info.ModTime()
	return s.tar, s.parquet, err
}

// member describes a file in a shard; the other properties are the shard's.
type member struct {
	fs.FileInfo
	name string
	size int64
}

func (m member) Name() string { return m.name }
func (m member) Size() int64  { return m.size }

// opened is an open file in a shard.
type opened struct {
	member
	*io.SectionReader
	shard fs.File
}

func (o *opened) Stat() (fs.FileInfo, error) { return o.member, nil }
func (o *opened) Size() int64                { return o.size }
func (o *opened) Close() error               { return o.shard.Close() }

// Split returns the part of a shard's path that names a split, as in train-0000.tar and val/0000.tar: the first word
// that known accepts, in the file name or else in the folders above.
func Split(name string, known func(word string) bool) string {
	for elements := strings.Split(name, "/"); len(elements) > 0; elements = elements[:len(elements)-1] {
		for _, word := range strings.FieldsFunc(strings.ToLower(elements[len(elements)-1]),
			func(r rune) bool { return r < 'a' || r > 'z' }) {
			if known(word) {
				return word
			}
		}
	}
	return ""
}
