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

// ErrExists means that the folder already holds an index.
var ErrExists = errors.New("there is an index already")

// OtherEmbedder means that the index was made with a different embedder than the one given to extend it.
type OtherEmbedder struct{ Dir, Why string }

func (e *OtherEmbedder) Error() string { return fmt.Sprintf("search: %s: %s", e.Dir, e.Why) }

// syncRows is how many rows a crash may lose: a few seconds of work.
const syncRows = 256

// Extension appends the vectors of new images to an index. It takes batches in order, as backbone.Extract returns
// them: one row for every image of New. Unreadable images and rows of zeros are left out. Flushed rows survive a
// crash.
type Extension struct {
	New     []string // the images to embed: those given, without repeats and those already indexed
	Skipped int      // given images that were already indexed

	// Base returns the folder that the path of an image starts from; the zero source if its file is not on this
	// machine. Append records size and time of the file, by which a search later says what changed. Optional.
	Base func(path string) location.Source

	dir     string
	info    Info
	lock    io.Closer
	vectors *os.File
	paths   *os.File
	seen    *os.File
	done    int // images of New taken so far
	synced  int
	bad     []features.Bad
}

// Create makes an empty index and returns an Extension of it.
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

// Extend opens an index for appending. If another embedder made it, the error is an [OtherEmbedder].
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

// beginExtension opens the files for appending after the present rows, which state reads while the lock is held.
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

// missingPaths returns the paths that have no row, each once.
func missingPaths(paths []string, rows map[string]int) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for _, p := range paths {
		if p == "" {
			return nil, errors.New("search: found an empty path")
		}
		if _, there := rows[p]; there || seen[p] {
			continue
		}
		seen[p] = true
		list = append(list, p)
	}
	return list, nil
}

// openAt opens a file for writing at offset end and truncates it there, which drops rows that were never counted.
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

// Rows returns how many images of New have been taken.
func (x *Extension) Rows() int { return x.done }

// Added returns how many images of New are now in the index.
func (x *Extension) Added() int { return x.done - len(x.bad) }

// Total returns the number of rows of the index.
func (x *Extension) Total() int { return x.info.Rows }

// Bad returns the images that were left out.
func (x *Extension) Bad() []features.Bad { return x.bad }

// Append takes the vectors of the next images, which it normalises, and the unreadable images among them.
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

// Flush syncs the rows written so far to disk, and only then counts them in index.json.
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

// Finish writes what is left and marks the index as finished.
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
