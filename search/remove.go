package search

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"winnow/features"
	"winnow/internal/lock"
)

// Remove takes images out of an index: it writes an index without them next to it and puts that in its place.
func Remove(dir string, images []string) error {
	held, err := lock.Folder(dir)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	defer held.Close()
	ix, err := Open(dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	if err := ix.Verify(); err != nil {
		return err
	}
	gone := make(map[string]bool, len(images))
	for _, p := range images {
		gone[p] = true
	}
	side, old := dir+".new", dir+".old"
	for _, left := range []string{side, old} { // by a call that was stopped
		if err := os.RemoveAll(left); err != nil {
			return fmt.Errorf("search: %w", err)
		}
	}
	if err := ix.copyWithout(side, gone); err != nil {
		return err
	}
	if err := errors.Join(ix.Close(), held.Close()); err != nil { // some systems rename no folder with an open file
		return fmt.Errorf("search: %w", err)
	}
	if err := os.Rename(dir, old); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	if err := os.Rename(side, dir); err != nil {
		return fmt.Errorf("search: %w: the index is in %s", err, old)
	}
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	return nil
}

// copyWithout makes an index of the other images, byte for byte.
func (ix *Index) copyWithout(dir string, gone map[string]bool) error {
	x, err := Create(dir, ix.Embedder, ix.Dim, ix.DType, nil)
	if err != nil {
		return err
	}
	defer x.Close()
	const most = 1 << 10 // rows copied together
	for from := 0; from < ix.Rows; {
		if gone[ix.Paths[from]] {
			from++
			continue
		}
		to := from + 1
		for to < ix.Rows && to-from < most && !gone[ix.Paths[to]] {
			to++
		}
		data := make([]byte, int64(to-from)*ix.width())
		if _, err := ix.file.ReadAt(data, int64(from)*ix.width()); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		if err := x.add(data, []byte(features.EncodePaths(ix.Paths[from:to])), to-from); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		from = to
	}
	if err := x.Flush(); err != nil {
		return err
	}
	return x.Close()
}

// add appends encoded rows and their names to the files.
func (x *Extension) add(data, names []byte, rows int) error {
	if _, err := x.vectors.Write(data); err != nil {
		return err
	}
	if _, err := x.paths.Write(names); err != nil {
		return err
	}
	x.info.Vectors = crc32.Update(x.info.Vectors, castagnoli, data)
	x.info.Paths = crc32.Update(x.info.Paths, castagnoli, names)
	x.info.Names += int64(len(names))
	x.info.Rows += rows
	return nil
}

// Written returns when an index was written last.
func Written(dir string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(dir, indexFile))
	if err != nil {
		return time.Time{}, fmt.Errorf("search: %w", err)
	}
	return info.ModTime(), nil
}
