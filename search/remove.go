package search

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"winnow/features"
	"winnow/internal/lock"
)

// Remove removes images from an index. It writes an index without them next to it, which then replaces the original.
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
	for _, left := range []string{side, old} { // left by an interrupted call
		if err := os.RemoveAll(left); err != nil {
			return fmt.Errorf("search: %w", err)
		}
	}
	if err := ix.copyWithout(side, gone); err != nil {
		return err
	}
	if err := errors.Join(ix.Close(), held.Close()); err != nil { // some systems cannot rename a folder with open files
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

// copyWithout makes an index of the remaining images, copied byte for byte.
func (ix *Index) copyWithout(dir string, gone map[string]bool) error {
	files, err := ix.Files()
	if err != nil {
		return err
	}
	x, err := Create(dir, ix.Embedder, ix.Dim, nil)
	if err != nil {
		return err
	}
	defer x.Close()
	x.info.Embedder, x.info.Unfinished = ix.Embedder, ix.Unfinished // places are relative to the final name of dir
	const most = 1 << 10                                            // rows copied at once
	for from := 0; from < ix.Rows; {
		if gone[ix.Paths[from]] {
			from++
			continue
		}
		to := from + 1
		for to < ix.Rows && to-from < most && !gone[ix.Paths[to]] {
			to++
		}
		data := make([]byte, int64(to-from)*ix.rowBytes())
		if _, err := ix.file.ReadAt(data, int64(from)*ix.rowBytes()); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		names, seen := features.EncodePaths(ix.Paths[from:to]), strings.Join(files.lines[from:to], "")
		if err := x.addEncoded(data, []byte(names), []byte(seen), to-from); err != nil {
			return fmt.Errorf("search: %w", err)
		}
		from = to
	}
	if err := x.Flush(); err != nil {
		return err
	}
	return x.Close()
}

// addEncoded appends encoded rows, and the lines of their images, to the files.
func (x *Extension) addEncoded(data, names, seen []byte, rows int) error {
	for _, part := range []struct {
		file *os.File
		data []byte
	}{{x.vectors, data}, {x.paths, names}, {x.seen, seen}} {
		if _, err := part.file.Write(part.data); err != nil {
			return err
		}
	}
	x.info.Vectors = updateCRC(x.info.Vectors, data)
	x.info.Paths, x.info.Names = updateCRC(x.info.Paths, names), x.info.Names+int64(len(names))
	x.info.SeenSum, x.info.Seen = updateCRC(x.info.SeenSum, seen), x.info.Seen+int64(len(seen))
	x.info.Rows += rows
	return nil
}
