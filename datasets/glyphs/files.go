package glyphs

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"time"
)

// picture names one image: the number'th of a character.
type picture struct {
	char   rune
	number int
}

// images is a read-only tree of files that are drawn when they are opened. It is safe for concurrent use.
type images struct {
	renderer *Renderer
	seed     uint64
	pictures map[string]picture       // of each file
	folders  map[string][]fs.DirEntry // of each folder, by name
}

func newImages(r *Renderer, seed uint64) *images {
	return &images{renderer: r, seed: seed, pictures: map[string]picture{}, folders: map[string][]fs.DirEntry{".": nil}}
}

// add puts a file into the tree and makes its folders. Files of one folder are added in the order of their names.
func (m *images) add(name string, p picture) {
	m.pictures[name] = p
	var entry fs.DirEntry = info{path.Base(name), false}
	for name != "." {
		name = path.Dir(name)
		entries, known := m.folders[name]
		at, found := slices.BinarySearchFunc(entries, entry, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
		if !found {
			m.folders[name] = slices.Insert(entries, at, entry)
		}
		if known {
			return
		}
		entry = info{path.Base(name), true}
	}
}

// ReadFile draws an image.
func (m *images) ReadFile(name string) ([]byte, error) {
	p, ok := m.pictures[name]
	if !ok {
		return nil, m.missing("read", name)
	}
	var pixels [Size * Size]byte
	m.renderer.Render(pixels[:], p.char, Found(), Source(m.seed, p.char, p.number))
	return encodePNG(pixels[:]), nil
}

// Source returns the random source of one image of the dataset: a function of seed, character and number.
func Source(seed uint64, c rune, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(c)<<32|uint64(number)))
}

// Open draws an image, or lists a folder.
func (m *images) Open(name string) (fs.File, error) {
	if entries, ok := m.folders[name]; ok {
		return &openFolder{info: info{path.Base(name), true}, entries: entries}, nil
	}
	data, err := m.ReadFile(name)
	if err != nil {
		return nil, m.missing("open", name)
	}
	return &openImage{info: info{path.Base(name), false}, Reader: bytes.NewReader(data)}, nil
}

// Stat needs no drawing: all images are of one size.
func (m *images) Stat(name string) (fs.FileInfo, error) {
	if _, ok := m.folders[name]; ok {
		return info{path.Base(name), true}, nil
	}
	if _, ok := m.pictures[name]; ok {
		return info{path.Base(name), false}, nil
	}
	return nil, m.missing("stat", name)
}

func (m *images) missing(op, name string) error {
	err := fs.ErrNotExist
	if _, folder := m.folders[name]; folder || !fs.ValidPath(name) {
		err = fs.ErrInvalid
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// info describes a file or a folder.
type info struct {
	name   string
	folder bool
}

func (i info) Name() string               { return i.name }
func (i info) IsDir() bool                { return i.folder }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) String() string             { return fs.FormatFileInfo(i) }

func (i info) Size() int64 {
	if i.folder {
		return 0
	}
	return pngBytes
}

func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// openImage is a drawn image.
type openImage struct {
	info
	*bytes.Reader
}

func (f *openImage) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openImage) Size() int64                { return f.info.Size() }
func (f *openImage) Close() error               { return nil }

// openFolder is a folder and how far it has been read.
type openFolder struct {
	info
	entries []fs.DirEntry
	next    int
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFolder) Close() error               { return nil }

func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}

// ReadDir follows [fs.ReadDirFile].
func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	left := f.entries[f.next:]
	if n > 0 {
		if len(left) == 0 {
			return nil, io.EOF
		}
		left = left[:min(n, len(left))]
	}
	f.next += len(left)
	return slices.Clone(left), nil
}
