package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lock"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// ErrExists reports that the folder already holds an index.
var ErrExists = errors.New("the folder already holds an index")

// OtherEmbedder reports that an index was made with a different embedder than the given one.
type OtherEmbedder struct{ Dir, Why string }

func (e *OtherEmbedder) Error() string { return fmt.Sprintf("search: %s: %s", e.Dir, e.Why) }

// syncRows is the largest number of rows that a crash may lose, a few seconds of work.
const syncRows = 256

// Extension appends the vectors of new images to an index. It takes batches in the order of New, as backbone.Extract
// returns them, with one row for every image. Unreadable images and rows of zeros are skipped. Flushed rows survive a
// crash.
type Extension struct {
	New     []string // images to embed: the given paths without repeats and without indexed images
	Skipped int      // number of given images that were already indexed

	// Base returns the folder to which the path of an image is relative, or the zero source if the file is not on this
	// machine. Append records the size and time of the file, so that a later search can report changes. Optional.
	Base func(path string) location.Source

	dir     string
	info    Info
	lock    io.Closer
	vectors *os.File
	paths   *os.File
	seen    *os.File
	done    int // number of images of New appended so far
	synced  int
	bad     []features.Bad
}

// Create makes an empty index and returns an Extension for it.
func Create(dir string, e Embedder, dim int, paths []string) (*Extension, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return beginExtension(dir, paths, func() (Info, map[string]int, error) {
		if Here(dir) {
			return Info{}, nil, fmt.Errorf("search: %s: %w", dir, ErrExists)
		}
		if filepath.IsAbs(e.Source) {
			e.Place = location.PlaceOf(dir, location.At(e.Source))
		}
		info := Info{Version: indexVersion, Dim: dim, DType: features.Float32, Embedder: e, Unfinished: true}
		return info, nil, info.checkInfo(dir)
	})
}

// Extend opens an index for appending. If the index was made with another embedder, the error is an [OtherEmbedder].
func Extend(dir string, e Embedder, dim int, paths []string) (*Extension, error) {
	return beginExtension(dir, paths, func() (Info, map[string]int, error) {
		ix, err := Open(dir)
		if err != nil {
			return Info{}, nil, err
		}
		defer ix.Close()
		why := ix.Embedder.Differs(e)
		if why == "" && dim != ix.Dim {
			why = fmt.Sprintf("made of %d values a row, asked for %d", ix.Dim, dim)
		}
		if why != "" {
			return Info{}, nil, &OtherEmbedder{dir, why}
		}
		return ix.Info, ix.rows, ix.Verify()
	})
}

// beginExtension opens the files for appending after the existing rows. state reads these rows while the lock is held.
func beginExtension(dir string, paths []string, state func() (Info, map[string]int, error)) (_ *Extension, err error) {
	x := &Extension{dir: dir}
	if x.lock, err = lock.Folder(dir); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	var rows map[string]int
	if x.info, rows, err = state(); err != nil {
		return nil, err
	}
	if x.New, err = missingPaths(paths, rows); err != nil {
		return nil, err
	}
	x.Skipped = len(paths) - len(x.New)
	for _, part := range []struct {
		file **os.File
		name string
		end  int64
	}{{&x.vectors, vectorsFile, x.info.vectorBytes()}, {&x.paths, pathsFile, x.info.Names},
		{&x.seen, seenFile, x.info.Seen}} {
		if *part.file, err = openAt(filepath.Join(dir, part.name), part.end); err != nil {
			return nil, err
		}
	}
	if x.info.Rows == 0 {
		return x, x.Flush()
	}
	return x, nil
}

// missingPaths returns the distinct paths that have no row.
func missingPaths(paths []string, rows map[string]int) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, p := range paths {
		if p == "" {
			return nil, errors.New("search: empty path, expected the path of an image")
		}
		if _, there := rows[p]; there || seen[p] {
			continue
		}
		seen[p] = true
		list = append(list, p)
	}
	return list, nil
}

// openAt opens a file for writing at offset end. It truncates the file there, dropping rows that index.json does not
// include.
func openAt(name string, end int64) (*os.File, error) {
	f, err := regular.OpenOwn(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if err := f.Truncate(end); err != nil {
		return nil, errors.Join(fmt.Errorf("search: %w", err), f.Close())
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return nil, errors.Join(fmt.Errorf("search: %w", err), f.Close())
	}
	return f, nil
}

// Rows returns the number of images of New that have been appended or left out.
func (x *Extension) Rows() int { return x.done }

// Added returns the number of images of New that are now in the index.
func (x *Extension) Added() int { return x.done - len(x.bad) }

// Total returns the number of rows of the index.
func (x *Extension) Total() int { return x.info.Rows }

// Bad returns the images that were left out.
func (x *Extension) Bad() []features.Bad { return x.bad }

// Append normalises and appends the vectors of the next images. bad lists the unreadable images among them.
func (x *Extension) Append(rows blas32.General, bad []features.Bad) error {
	if rows.Cols != x.info.Dim || x.done+rows.Rows > len(x.New) {
		return fmt.Errorf("search: %s: batch of %d×%d at image %d of %d, expected %d values a row", x.dir, rows.Rows,
			rows.Cols, x.done, len(x.New), x.info.Dim)
	}
	why := make(map[int]string, len(bad))
	for _, b := range bad {
		why[b.Row-x.done] = b.Reason
	}
	keep := features.NewMatrix(rows.Rows, rows.Cols)
	keep.Rows = 0
	var names, seen bytes.Buffer
	for i := range rows.Rows {
		one := oneRow(keep.Data[keep.Rows*keep.Cols:][:keep.Cols])
		copy(one.Data, features.Row(rows, i))
		reason, unreadable := why[i]
		if !unreadable && UnitRows(one) != nil {
			reason, unreadable = NoDirection, true
		}
		if unreadable {
			x.bad = append(x.bad, features.Bad{Row: x.done + i, Path: x.New[x.done+i], Reason: reason})
			continue
		}
		names.WriteString(features.EncodePaths(x.New[x.done+i : x.done+i+1]))
		seen.WriteString(x.seenLine(x.New[x.done+i]) + "\n")
		keep.Rows++
	}
	var data bytes.Buffer
	err := features.EncodeRows(&data, features.Float32, keep)
	if err == nil {
		err = x.addEncoded(data.Bytes(), names.Bytes(), seen.Bytes(), keep.Rows)
	}
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	x.done += rows.Rows
	if x.done-x.synced >= syncRows {
		return x.Flush()
	}
	return nil
}

// Flush syncs the rows written so far to disk, and then includes them in index.json.
func (x *Extension) Flush() error {
	if err := errors.Join(x.vectors.Sync(), x.paths.Sync(), x.seen.Sync()); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	data, err := seal.Marshal(x.info)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if err := atomicfile.WriteBytes(filepath.Join(x.dir, indexFile), data); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	x.synced = x.done
	return nil
}

// Finish writes the remaining rows and marks the index as finished.
func (x *Extension) Finish() error {
	x.info.Unfinished = false
	return x.Flush()
}

// Close releases the folder. Rows since the last Flush are lost.
func (x *Extension) Close() error {
	var err error
	for _, f := range []*os.File{x.vectors, x.paths, x.seen} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	x.vectors, x.paths, x.seen = nil, nil, nil
	if x.lock != nil {
		err = errors.Join(err, x.lock.Close())
		x.lock = nil
	}
	return err
}
