// Package search finds the vectors nearest to a query among many stored vectors. The search is exact and works in
// blocks, so the vectors need not fit in memory.
//
// An [Index] is a folder of unit vectors to which [Extend] appends images. [Nearest] searches an index or a feature
// store ([Stored]). The package handles vectors and names only; the caller computes the vectors of images.
package search

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// Files of an index. index.json is written last; rows beyond the number in index.json are ignored, and the next
// extension truncates them.
const (
	vectorsFile = "vectors.bin" // rows×dim numbers, little-endian, row-major, no header
	pathsFile   = "paths.txt"   // line i is the image of row i
	seenFile    = "seen.txt"    // line i is the size, the time and the base folder of the image's file
	indexFile   = "index.json"
)

// indexVersion is the version of the format.
const indexVersion = 4

// Embedder identifies the model that makes the vectors of an index. Embedders that differ only in Source and Place make
// the same vectors.
type Embedder struct {
	Model         string `json:"model"`          // sha256 of the ONNX file
	Output        string `json:"output"`         // the output tensor
	Head          string `json:"head,omitempty"` // sha256 of the head file; "" without a head
	Preprocessing string `json:"preprocessing"`  // in canonical form
	Decoder       string `json:"decoder"`        // the image decoder and its version
	Source        string `json:"source"`         // where the embedder was found; not part of its identity

	// Place is the location of Source if Source is a file or a folder; [Create] sets it.
	Place location.Place `json:"place,omitzero"`
}

// Differs describes how an embedder differs from the requested embedder; "" if it does not.
func (e Embedder) Differs(asked Embedder) string {
	if e.Head != asked.Head {
		return fmt.Sprintf("made with head %s, asked for %s", shortSum(e.Head), shortSum(asked.Head))
	}
	key := func(e Embedder) features.Key {
		return features.Key{Model: e.Model, Output: e.Output, Preprocessing: e.Preprocessing, Decoder: e.Decoder}
	}
	return key(e).Differs(key(asked))
}

// shortSum shortens a sha256.
func shortSum(sum string) string {
	if sum == "" {
		return "none"
	}
	return sum[:min(12, len(sum))] + "…"
}

// Info is the content of index.json. The CRC-32C sums can be continued from their last values.
type Info struct {
	Version  int      `json:"version"`
	Rows     int      `json:"rows"`
	Dim      int      `json:"dim"`
	DType    string   `json:"dtype"` // features.Float32
	Embedder Embedder `json:"embedder"`
	Vectors  uint32   `json:"vectors_crc32c"`
	Names    int64    `json:"paths_bytes"`
	Paths    uint32   `json:"paths_crc32c"`
	Seen     int64    `json:"seen_bytes"`
	SeenSum  uint32   `json:"seen_crc32c"`

	// Unfinished is true until all images planned for the index have been added. [Extend] can continue such an index.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Index is an index in its state when opened. It stays valid while the folder is extended.
type Index struct {
	Info
	Dir   string
	Paths []string // the image of each row

	rows map[string]int
	file *os.File
	view []float32 // the mapped file; nil if it cannot be mapped
	free func() error

	checked sync.Once // for the checksum of the vectors
	damage  error
}

// Open opens an index and checks that its files agree. The vectors stay on disk, memory-mapped where the system
// can.
func Open(dir string) (*Index, error) {
	ix := &Index{Dir: dir}
	var err error
	if ix.Info, err = readInfo(dir); err != nil {
		return nil, err
	}
	if err := ix.readPaths(); err != nil {
		return nil, err
	}
	if ix.file, err = regular.Open(filepath.Join(dir, vectorsFile)); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if err := ix.openVectors(); err != nil {
		return nil, errors.Join(err, ix.file.Close())
	}
	return ix, nil
}

// Here reports whether a folder holds an index.
func Here(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, indexFile))
	return err == nil
}

// Unfinished reports whether a folder holds an index that still lacks planned images.
func Unfinished(dir string) bool {
	info, err := readInfo(dir)
	return err == nil && info.Unfinished
}

// Close releases the vectors.
func (ix *Index) Close() error {
	var err error
	if ix.free != nil {
		err = ix.free()
		ix.free, ix.view = nil, nil
	}
	return errors.Join(err, ix.file.Close())
}

// lookUpRow returns the row of an image.
func (ix *Index) lookUpRow(path string) (int, bool) {
	row, ok := ix.rows[path]
	return row, ok
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// updateCRC continues a CRC-32C with more bytes. The first sum is 0.
func updateCRC(sum uint32, data []byte) uint32 { return crc32.Update(sum, castagnoli, data) }

func readInfo(dir string) (info Info, err error) {
	name := filepath.Join(dir, indexFile)
	data, err := regular.ReadFile(name, regular.Most)
	if errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("search: %s: not an index: the folder has no %s", dir, indexFile)
	}
	if err != nil {
		return info, fmt.Errorf("search: %w", err)
	}
	if err := seal.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("search: %s: %w", name, err)
	}
	return info, info.checkInfo(name)
}

// maxDim bounds the dimension read from a damaged file, so that products cannot overflow.
const maxDim = 1 << 20

func (info Info) checkInfo(name string) error {
	switch {
	case info.Version != indexVersion:
		return fmt.Errorf("search: %s: version %d, expected %d; make the index again in a new folder", name,
			info.Version, indexVersion)
	case info.DType != features.Float32:
		return fmt.Errorf("search: %s: numbers of type %q, expected %s", name, info.DType, features.Float32)
	case info.Rows < 0 || info.Rows > 1<<40 || info.Dim < 1 || info.Dim > maxDim ||
		info.Names < int64(info.Rows) || info.Seen < int64(info.Rows):
		return fmt.Errorf("search: %s: impossible sizes: %d rows, %d values a row, %d bytes of paths and %d bytes of "+
			"file data", name, info.Rows, info.Dim, info.Names, info.Seen)
	}
	return nil
}

// rowBytes returns the bytes of a row.
func (info Info) rowBytes() int64 { return int64(info.Dim) * 4 }

// vectorBytes returns the bytes of all vectors.
func (info Info) vectorBytes() int64 { return int64(info.Rows) * info.rowBytes() }

// readPart reads the first size bytes of a text file and compares their checksum.
func (ix *Index) readPart(file string, size int64, sum uint32) ([]byte, error) {
	name := filepath.Join(ix.Dir, file)
	f, err := regular.Open(name)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer f.Close()
	if stat, err := f.Stat(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	} else if stat.Size() < size {
		return nil, fmt.Errorf("search: %s: %d bytes, expected at least %d by %s", name, stat.Size(), size,
			indexFile)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("search: %s: %w", name, err)
	}
	if found := updateCRC(0, data); found != sum {
		return nil, fmt.Errorf("search: %s: checksum %08x, expected %08x; the file has changed: "+
			"restore it, or make the index again", name, found, sum)
	}
	return data, nil
}

// readPaths reads the paths of the rows from paths.txt.
func (ix *Index) readPaths() error {
	name := filepath.Join(ix.Dir, pathsFile)
	data, err := ix.readPart(pathsFile, ix.Names, ix.Info.Paths)
	if err != nil {
		return err
	}
	if ix.Rows > 0 {
		ix.Paths = features.DecodePaths(string(data))
	}
	if len(ix.Paths) != ix.Rows {
		return fmt.Errorf("search: %s: %d paths, expected %d", name, len(ix.Paths), ix.Rows)
	}
	ix.rows = make(map[string]int, len(ix.Paths))
	for i, p := range ix.Paths {
		if _, twice := ix.rows[p]; twice {
			return fmt.Errorf("search: %s: %q appears twice", name, p)
		}
		ix.rows[p] = i
	}
	return nil
}

// openVectors checks the size of the vector file and maps it.
func (ix *Index) openVectors() error {
	stat, err := ix.file.Stat()
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if stat.Size() < ix.vectorBytes() {
		return fmt.Errorf("search: %s: %d bytes, expected at least %d for %d rows of %d values", ix.file.Name(),
			stat.Size(), ix.vectorBytes(), ix.Rows, ix.Dim)
	}
	if ix.Rows > 0 {
		ix.view, ix.free = features.MapFloats(ix.file, ix.vectorBytes())
	}
	return nil
}

// Len and Width implement [Vectors].
func (ix *Index) Len() int   { return ix.Rows }
func (ix *Index) Width() int { return ix.Dim }

// Block implements [Vectors]. If the file is mapped, Block returns a view. The first call verifies the checksum of all
// vectors.
func (ix *Index) Block(from, n int) (blas32.General, []bool, error) {
	at, to := int64(from)*ix.rowBytes(), int64(from+n)*ix.rowBytes()
	if err := ix.checkVectors(); err != nil {
		return blas32.General{}, nil, err
	}
	if ix.view != nil {
		return blas32.General{Rows: n, Cols: ix.Dim, Stride: ix.Dim, Data: ix.view[from*ix.Dim : (from+n)*ix.Dim]},
			nil, nil
	}
	b := make([]byte, to-at)
	if _, err := ix.file.ReadAt(b, at); err != nil {
		return blas32.General{}, nil, fmt.Errorf("search: %s: row %d: %w", ix.file.Name(), from, err)
	}
	x := features.NewMatrix(n, ix.Dim)
	features.DecodeRows(x.Data, features.Float32, b)
	return x, nil, nil
}

// Verify reads all files and compares their checksums with index.json.
func (ix *Index) Verify() error {
	if _, err := ix.Files(); err != nil {
		return err
	}
	return ix.checkVectors()
}

// checkVectors reads the vectors, once, and compares their checksum.
func (ix *Index) checkVectors() error {
	ix.checked.Do(func() {
		sum, in := crc32.New(castagnoli), io.NewSectionReader(ix.file, 0, ix.vectorBytes())
		if ix.view != nil {
			sum.Write(features.FloatBytes(ix.view))
		} else if _, err := io.Copy(sum, in); err != nil {
			ix.damage = fmt.Errorf("search: %s: %w", ix.file.Name(), err)
			return
		}
		if found := sum.Sum32(); found != ix.Info.Vectors {
			ix.damage = fmt.Errorf("search: %s: checksum %08x, expected %08x; the file has changed: "+
				"restore it, or make the index again", ix.file.Name(), found, ix.Info.Vectors)
		}
	})
	return ix.damage
}
