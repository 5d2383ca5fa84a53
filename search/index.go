// Package search finds the nearest of many stored vectors. The search is exact and works in blocks, so the vectors
// need not fit in memory.
//
// An [Index] is a folder of unit vectors that only grows; [Extend] appends images. [Nearest] searches an index or a
// feature store ([Stored]). The package knows vectors and names; the caller computes the vectors of images.
package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/location"
	"winnow/features"
)

// Files of an index. index.json is written last; rows that it does not count do not exist, and the next extension
// truncates them.
const (
	vectorsFile = "vectors.bin" // rows×dim numbers, little-endian, row-major, no header
	pathsFile   = "paths.txt"   // line i is the image of row i
	indexFile   = "index.json"
)

// indexVersion is the version of the format.
const indexVersion = 1

// castagnoli is the checksum of the two data files. Unlike a sha256 it can be continued from its last value.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Embedder identifies what makes the vectors of an index. Embedders that differ only in Source and Place make the
// same vectors.
type Embedder struct {
	Model         string `json:"model"`          // sha256 of the ONNX file
	Output        string `json:"output"`         // the output tensor
	Head          string `json:"head,omitempty"` // sha256 of the head file; "" without a head
	Preprocessing string `json:"preprocessing"`  // in canonical form
	Decoder       string `json:"decoder"`        // the image decoder and its version
	Source        string `json:"source"`         // where the embedder was found: a hint, not part of the identity

	// Place is the location of Source if that is a file or a folder; [Create] fills it in.
	Place location.Place `json:"place,omitzero"`
}

// Differs says how an embedder differs from the one asked for, or returns "".
func (e Embedder) Differs(asked Embedder) string {
	if e.Head != asked.Head {
		return fmt.Sprintf("made with head %s, asked for %s", brief(e.Head), brief(asked.Head))
	}
	key := func(e Embedder) features.Key {
		return features.Key{Model: e.Model, Output: e.Output, Preprocessing: e.Preprocessing, Decoder: e.Decoder}
	}
	return key(e).Differs(key(asked))
}

// brief shortens a sha256.
func brief(sum string) string {
	if sum == "" {
		return "none"
	}
	return sum[:min(12, len(sum))] + "…"
}

// Info is the content of index.json.
type Info struct {
	Version  int      `json:"version"`
	Rows     int      `json:"rows"`
	Dim      int      `json:"dim"`
	DType    string   `json:"dtype"` // features.Float32 or features.Float16
	Embedder Embedder `json:"embedder"`
	Vectors  uint32   `json:"vectors_crc32c"`
	Names    int64    `json:"paths_bytes"`
	Paths    uint32   `json:"paths_crc32c"`
}

// Index is an open index as it was when opened. It stays valid while the folder is extended.
type Index struct {
	Info
	Dir   string
	Paths []string // the image of each row

	rows map[string]int
	file *os.File
	view []float32 // the mapped file; nil if it cannot be mapped
	free func() error
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
	if ix.file, err = os.Open(filepath.Join(dir, vectorsFile)); err != nil {
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

// Close releases the vectors.
func (ix *Index) Close() error {
	var err error
	if ix.free != nil {
		err = ix.free()
		ix.free, ix.view = nil, nil
	}
	return errors.Join(err, ix.file.Close())
}

// lookup returns the row of an image.
func (ix *Index) lookup(path string) (int, bool) {
	row, ok := ix.rows[path]
	return row, ok
}

func readInfo(dir string) (info Info, err error) {
	name := filepath.Join(dir, indexFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("search: %s: no index: no %s in it", dir, indexFile)
	}
	if err != nil {
		return info, fmt.Errorf("search: %w", err)
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("search: %s: %w", name, err)
	}
	return info, info.check(name)
}

// maxDim bounds the products computed from a damaged file's numbers.
const maxDim = 1 << 20

func (info Info) check(name string) error {
	switch {
	case info.Version != indexVersion:
		return fmt.Errorf("search: %s: version %d, expected %d", name, info.Version, indexVersion)
	case info.DType != features.Float32 && info.DType != features.Float16:
		return fmt.Errorf("search: %s: numbers of type %q, expected %s or %s", name, info.DType, features.Float32,
			features.Float16)
	case info.Rows < 0 || info.Rows > 1<<40 || info.Dim < 1 || info.Dim > maxDim || info.Names < int64(info.Rows):
		return fmt.Errorf("search: %s: found the impossible sizes %d rows, %d values a row and %d bytes of paths",
			name, info.Rows, info.Dim, info.Names)
	}
	return nil
}

// width returns the bytes of a row.
func (info Info) width() int64 { return int64(info.Dim) * int64(features.ElementSize(info.DType)) }

// bytes returns the bytes of all vectors.
func (info Info) bytes() int64 { return int64(info.Rows) * info.width() }

// readPaths reads the counted part of paths.txt.
func (ix *Index) readPaths() error {
	name := filepath.Join(ix.Dir, pathsFile)
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	defer f.Close()
	if stat, err := f.Stat(); err != nil {
		return fmt.Errorf("search: %w", err)
	} else if stat.Size() < ix.Names {
		return fmt.Errorf("search: %s: %d bytes, expected at least %d as %s says", name, stat.Size(), ix.Names,
			indexFile)
	}
	data := make([]byte, ix.Names)
	if _, err := io.ReadFull(f, data); err != nil {
		return fmt.Errorf("search: %s: %w", name, err)
	}
	if sum := crc32.Checksum(data, castagnoli); sum != ix.Info.Paths {
		return fmt.Errorf("search: %s: checksum %08x, expected %08x: the file has changed since it was written", name,
			sum, ix.Info.Paths)
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
	if stat.Size() < ix.bytes() {
		return fmt.Errorf("search: %s: %d bytes, expected at least %d for %d rows of %d values", ix.file.Name(),
			stat.Size(), ix.bytes(), ix.Rows, ix.Dim)
	}
	if ix.DType == features.Float32 && ix.Rows > 0 {
		ix.view, ix.free = features.MapFloats(ix.file, ix.bytes())
	}
	return nil
}

// Len and Width implement [Vectors].
func (ix *Index) Len() int   { return ix.Rows }
func (ix *Index) Width() int { return ix.Dim }

// Block implements [Vectors]. If the file is mapped, it returns a view. Stored float16 rows have length 1 only to
// within 1e-3, so they are normalised here.
func (ix *Index) Block(from, n int) (blas32.General, []bool, error) {
	if ix.view != nil {
		return blas32.General{Rows: n, Cols: ix.Dim, Stride: ix.Dim, Data: ix.view[from*ix.Dim : (from+n)*ix.Dim]},
			nil, nil
	}
	b := make([]byte, int64(n)*ix.width())
	if _, err := ix.file.ReadAt(b, int64(from)*ix.width()); err != nil {
		return blas32.General{}, nil, fmt.Errorf("search: %s: row %d: %w", ix.file.Name(), from, err)
	}
	x := features.NewMatrix(n, ix.Dim)
	features.DecodeRows(x.Data, ix.DType, b)
	if ix.DType == features.Float32 {
		return x, nil, nil
	}
	return x, UnitRows(x), nil
}

// Verify reads all vectors and compares their checksum with index.json.
func (ix *Index) Verify() error {
	h := crc32.New(castagnoli)
	if _, err := io.Copy(h, io.NewSectionReader(ix.file, 0, ix.bytes())); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if sum := h.Sum32(); sum != ix.Info.Vectors {
		return fmt.Errorf("search: %s: checksum %08x, expected %08x: the file has changed since it was written",
			ix.file.Name(), sum, ix.Info.Vectors)
	}
	return nil
}
