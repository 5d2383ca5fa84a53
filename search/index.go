// Package search finds the nearest of many stored vectors: exactly, in blocks, without holding them all in memory.
//
// An [Index] is a folder of unit vectors that only grows; [Extend] appends images. [Nearest] searches an index or a feature
// store ([Stored]). The package knows vectors and names; the caller makes the vectors of images.
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

	"winnow/features"
	"winnow/internal/place"
)

// Files of an index. Rows that index.json does not count do not exist: it is written last, and the next extension cuts off
// what lies behind its rows.
const (
	vectorsFile = "vectors.bin" // rows×dim numbers, little endian, row-major, nothing else
	pathsFile   = "paths.txt"   // line i is the image of row i
	indexFile   = "index.json"
)

// indexVersion is that of the format.
const indexVersion = 1

// castagnoli is the checksum of the two files: unlike a sha256 it can continue where it stopped.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Embedder identifies what makes the vectors of an index. Two embedders that agree in all but Source and Place make the same vectors.
type Embedder struct {
	Model         string `json:"model"`          // sha256 of the ONNX file
	Output        string `json:"output"`         // the tensor taken
	Head          string `json:"head,omitempty"` // sha256 of the head file behind it; "" where there is none
	Preprocessing string `json:"preprocessing"`  // canonical text
	Decoder       string `json:"decoder"`        // what reads the pictures, and its version
	Source        string `json:"source"`         // where it was found: a hint, not part of the identity

	Place place.Place `json:"place,omitzero"` // of the same, where it is a file or a folder; [Create] fills it in
}

// Differs returns how an embedder differs from the one asked for, in words, or "".
func (e Embedder) Differs(asked Embedder) string {
	if e.Head != asked.Head {
		return fmt.Sprintf("made with head %s, asked for %s", brief(e.Head), brief(asked.Head))
	}
	key := func(e Embedder) features.Key {
		return features.Key{Model: e.Model, Output: e.Output, Preprocessing: e.Preprocessing, Decoder: e.Decoder}
	}
	return key(e).Differs(key(asked))
}

// brief returns a shortened sha256.
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

// Index is a finished state of a folder of unit vectors with names. It stays valid while the folder is extended.
type Index struct {
	Info
	Dir   string
	Paths []string // image of each row

	rows map[string]int
	file *os.File
	view []float32 // the mapped file; nil where that cannot be
	free func() error
}

// Open reads an index and checks that its parts fit together. The vectors stay on disk, mapped where the system can.
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

// Lookup returns the row of an image.
func (ix *Index) Lookup(path string) (int, bool) {
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

// maxDim bounds what a damaged file may make us multiply.
const maxDim = 1 << 20

func (info Info) check(name string) error {
	switch {
	case info.Version != indexVersion:
		return fmt.Errorf("search: %s: version %d, expected %d", name, info.Version, indexVersion)
	case info.DType != features.Float32 && info.DType != features.Float16:
		return fmt.Errorf("search: %s: numbers of type %q, expected %s or %s", name, info.DType, features.Float32, features.Float16)
	case info.Rows < 0 || info.Rows > 1<<40 || info.Dim < 1 || info.Dim > maxDim || info.Names < int64(info.Rows):
		return fmt.Errorf("search: %s: %d rows of %d values with %d bytes of paths cannot be", name, info.Rows, info.Dim, info.Names)
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
		return fmt.Errorf("search: %s: %d bytes, expected at least %d as %s says", name, stat.Size(), ix.Names, indexFile)
	}
	data := make([]byte, ix.Names)
	if _, err := io.ReadFull(f, data); err != nil {
		return fmt.Errorf("search: %s: %w", name, err)
	}
	if sum := crc32.Checksum(data, castagnoli); sum != ix.Info.Paths {
		return fmt.Errorf("search: %s: checksum %08x, expected %08x: the file has changed since it was written", name, sum, ix.Info.Paths)
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

// openVectors checks the size of the vectors and maps them.
func (ix *Index) openVectors() error {
	stat, err := ix.file.Stat()
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if stat.Size() < ix.bytes() {
		return fmt.Errorf("search: %s: %d bytes, expected at least %d for %d rows of %d values", ix.file.Name(), stat.Size(), ix.bytes(), ix.Rows, ix.Dim)
	}
	if ix.DType == features.Float32 && ix.Rows > 0 {
		ix.view, ix.free = features.MapFloats(ix.file, ix.bytes())
	}
	return nil
}

// Len and Width implement [Vectors].
func (ix *Index) Len() int   { return ix.Rows }
func (ix *Index) Width() int { return ix.Dim }

// Block implements [Vectors]. Without a copy where the file is mapped; float16 rows are unit rows only to 1e-3 as they
// are stored, and normalised here.
func (ix *Index) Block(from, n int) (blas32.General, []bool, error) {
	if ix.view != nil {
		return blas32.General{Rows: n, Cols: ix.Dim, Stride: ix.Dim, Data: ix.view[from*ix.Dim : (from+n)*ix.Dim]}, nil, nil
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

// Verify reads all vectors and compares their checksum with the one in index.json.
func (ix *Index) Verify() error {
	h := crc32.New(castagnoli)
	if _, err := io.Copy(h, io.NewSectionReader(ix.file, 0, ix.bytes())); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if sum := h.Sum32(); sum != ix.Info.Vectors {
		return fmt.Errorf("search: %s: checksum %08x, expected %08x: the file has changed since it was written", ix.file.Name(), sum, ix.Info.Vectors)
	}
	return nil
}
