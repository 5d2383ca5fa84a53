package glyphs

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"testing/fstest"
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
	img := image.NewGray(image.Rect(0, 0, Size, Size))
	m.renderer.Render(img.Pix, p.char, Found(), Source(m.seed, p.char, p.number))
	var file bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&file, img)
	return file.Bytes(), err
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
	return fstest.MapFS{name: {Data: data, Mode: 0o444}}.Open(name)
}
