package glyphs

import (
	"cmp"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"

	"winnow/datasets/packed"
)

// picture identifies an image: its character and number.
type picture struct {
	char   rune
	number int
}

// images is a read-only file tree whose files are drawn when they are opened. It is safe for concurrent use.
type images struct {
	renderer *Renderer
	seed     uint64
	pictures map[string]picture        // by file name
	folders  map[string][]packed.Entry // by folder name, sorted
}

func newImages(r *Renderer, seed uint64) *images {
	return &images{renderer: r, seed: seed, pictures: map[string]picture{},
		folders: map[string][]packed.Entry{".": nil}}
}

// addPictureFile adds a file and its folders to the tree. The files of a folder must be added in the order of their
// names.
func (m *images) addPictureFile(name string, p picture) {
	m.pictures[name] = p
	entry := imageAt(name)
	for name != "." {
		name = path.Dir(name)
		entries, known := m.folders[name]
		at, found := slices.BinarySearchFunc(entries, entry, func(a, b packed.Entry) int {
			return cmp.Compare(a.Base, b.Base)
		})
		if !found {
			m.folders[name] = slices.Insert(entries, at, entry)
		}
		if known {
			return
		}
		entry = folderAt(name)
	}
}

// ReadFile draws an image.
func (m *images) ReadFile(name string) ([]byte, error) {
	p, ok := m.pictures[name]
	if !ok {
		return nil, m.newNotFound("read", name)
	}
	var pixels [Size * Size]byte
	m.renderer.Render(pixels[:], p.char, Found(), Source(m.seed, p.char, p.number))
	return encodePNG(pixels[:]), nil
}

// Source returns the random source of an image of the dataset, a function of seed, character and number.
func Source(seed uint64, c rune, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(c)<<32|uint64(number)))
}

// Open draws an image or lists a folder.
func (m *images) Open(name string) (fs.File, error) {
	if entries, ok := m.folders[name]; ok {
		return folderAt(name).List(len(entries), func(i int) packed.Entry { return entries[i] }), nil
	}
	data, err := m.ReadFile(name)
	if err != nil {
		return nil, m.newNotFound("open", name)
	}
	return imageAt(name).File(data), nil
}

// Stat draws nothing: all images have the same size.
func (m *images) Stat(name string) (fs.FileInfo, error) {
	if _, ok := m.folders[name]; ok {
		return folderAt(name), nil
	}
	if _, ok := m.pictures[name]; ok {
		return imageAt(name), nil
	}
	return nil, m.newNotFound("stat", name)
}

func (m *images) newNotFound(op, name string) error {
	err := fs.ErrNotExist
	if _, folder := m.folders[name]; folder || !fs.ValidPath(name) {
		err = fs.ErrInvalid
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func folderAt(name string) packed.Entry { return packed.Entry{Base: path.Base(name), Folder: true} }

func imageAt(name string) packed.Entry { return packed.Entry{Base: path.Base(name), Bytes: pngBytes} }
