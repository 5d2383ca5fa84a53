package glyphs

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"path"
	"time"
)

// picture identifies an image by its character and number.
type picture struct {
	char   rune
	number int
}

// images is a read-only file tree that draws files when they are opened. Its folders cannot be listed. It is safe for
// concurrent use.
type images struct {
	renderer *Renderer
	seed     uint64
	pictures map[string]picture // by file name
}

// ReadFile draws an image and returns it as a PNG file.
func (m *images) ReadFile(name string) ([]byte, error) {
	p, ok := m.pictures[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	var pixels [Size * Size]byte
	m.renderer.Render(pixels[:], p.char, Found(), Source(m.seed, p.char, p.number))
	return encodePNG(pixels[:]), nil
}

// Source returns the random source of an image, which depends on seed, character and number.
func Source(seed uint64, c rune, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(c)<<32|uint64(number)))
}

// Open draws an image.
func (m *images) Open(name string) (fs.File, error) {
	data, err := m.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(data), imageInfo(path.Base(name))}, nil
}

// Stat describes an image without drawing it: all images have the same size.
func (m *images) Stat(name string) (fs.FileInfo, error) {
	if _, ok := m.pictures[name]; !ok {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return imageInfo(path.Base(name)), nil
}

// file is an open image.
type file struct {
	*bytes.Reader
	info imageInfo
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

// imageInfo is the name of an image; it implements fs.FileInfo.
type imageInfo string

func (i imageInfo) Name() string       { return string(i) }
func (i imageInfo) Size() int64        { return pngBytes }
func (i imageInfo) Mode() fs.FileMode  { return 0o444 }
func (i imageInfo) ModTime() time.Time { return time.Time{} }
func (i imageInfo) IsDir() bool        { return false }
func (i imageInfo) Sys() any           { return nil }
