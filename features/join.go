package features

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/internal/lock"
	"winnow/internal/regular"
)

// SourceError is an error: the vectors of a store to join are not those that were written.
type SourceError struct {
	Dir string
	Err error
}

func (e *SourceError) Error() string { return fmt.Sprintf("%s: %v", e.Dir, e.Err) }

func (e *SourceError) Unwrap() error { return e.Err }

// Join combines stores of consecutive images, in this order, into a store in dir, and releases their paths. Stores of
// whole batches give, byte for byte, the store made in one run on the same device. Join checks that the stores have
// the same model, tensor, preprocessing, views and batches, and that no file has changed since it was written
// (*SourceError). Rows are copied unchanged, whatever their type.
//
// If dir holds a store, finished or begun, Join returns ErrComplete if it is the same and a *KeyError otherwise. With
// overwrite it is replaced; the old one stays whole until the last moment.
func Join(stores []*Store, dir string, overwrite bool, progress func(done, total int)) (*Store, error) {
	if len(stores) == 0 {
		return nil, fmt.Errorf("features: join: no store is given")
	}
	for _, s := range stores[1:] {
		if why := describeStoreDiff(stores[0], s); why != "" {
			return nil, fmt.Errorf("features: join: %s and %s cannot be joined: %s", stores[0].Dir, s.Dir, why)
		}
	}
	j := &joiner{dir: dir, stores: stores, info: joinedInfo(stores), progress: progress}
	for _, s := range stores { // the names dominate the memory of large lists: keep them once
		j.paths = append(slices.Grow(j.paths, j.info.Rows-len(j.paths)), s.Paths...)
		s.Paths, s.rows = nil, nil
	}
	j.info.Key.Images = HashPaths(j.paths)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	if err := j.checkApart(); err != nil {
		return nil, err
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	defer held.Close()
	if !overwrite {
		if err := j.checkStanding(); err != nil {
			return nil, err
		}
	}
	if err := j.writeJoined(); err != nil {
		return nil, err
	}
	j.paths = nil
	return Open(dir)
}

// describeStoreDiff describes how two stores differ in more than their images, or returns "".
func describeStoreDiff(a, b *Store) string {
	key := b.Key
	key.Images = a.Key.Images
	if why := a.Key.Differs(key); why != "" {
		return why
	}
	if a.Batch != b.Batch || a.Dim != b.Dim {
		return fmt.Sprintf("batches of %d with %d values a row, batches of %d with %d", a.Batch, a.Dim, b.Batch, b.Dim)
	}
	return ""
}

// joinedInfo returns store.json of the whole, except the images and the checksum. It names all devices and versions
// of the stores.
func joinedInfo(stores []*Store) Info {
	info := stores[0].Info
	info.Rows, info.Bad = 0, []Bad{}
	var devices, versions []string
	for _, s := range stores {
		for _, b := range s.Bad {
			b.Row += info.Rows
			info.Bad = append(info.Bad, b)
		}
		info.Rows += s.Rows
		devices, versions = append(devices, s.Device), append(versions, s.Winnow)
	}
	info.Device, info.Winnow = eachOnce(devices), eachOnce(versions)
	return info
}

// eachOnce lists distinct texts, sorted.
func eachOnce(texts []string) string {
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ", ")
}

// joiner writes one store.
type joiner struct {
	dir    string
	stores []*Store
	paths  []string
	info   Info

	progress func(done, total int) // rows; may be nil
}

func (j *joiner) joinedPath(name string) string { return filepath.Join(j.dir, name) }

// checkApart returns an error if the destination is one of the sources.
func (j *joiner) checkApart() error {
	to, err := os.Stat(j.dir)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	for _, s := range j.stores {
		if from, err := os.Stat(s.Dir); err == nil && os.SameFile(from, to) {
			return fmt.Errorf("features: join: %s: is one of the stores to join, expected another folder for the "+
				"whole", j.dir)
		}
	}
	return nil
}

// checkStanding checks what the folder holds already.
func (j *joiner) checkStanding() error {
	if p, err := readProgress(j.joinedPath(progressFile)); err == nil && p.Rows > 0 {
		return &KeyError{j.dir, fmt.Sprintf("an extraction was begun here: %d of %d rows", p.Rows, p.Total)}
	}
	if old, err := Standing(context.Background(), j.dir, j.info.Key); old == nil {
		return err
	}
	return ErrComplete
}

// writeJoined writes the files, store.json last.
func (j *joiner) writeJoined() error {
	// The part is overwritten.
	if err := os.Remove(j.joinedPath(progressFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("features: %w", err)
	}
	if err := j.writeMatrix(); err != nil {
		return errors.Join(err, os.Remove(j.joinedPath(partFile)))
	}
	if err := removeInfo(j.dir); err != nil {
		return err
	}
	if err := os.Rename(j.joinedPath(partFile), j.joinedPath(VectorsFile)); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return writeInfo(context.Background(), j.dir, j.info, j.paths)
}

// writeMatrix copies the rows of all stores after one header and computes the checksum of the whole.
func (j *joiner) writeMatrix() (err error) {
	part, err := regular.OpenOwn(j.joinedPath(partFile), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	sum := sha256.New()
	to := io.MultiWriter(part, sum)
	var like npyHeader
	done := 0
	for i, s := range j.stores {
		if err := copyRows(to, s, i == 0, &like, j.info.Rows); err != nil {
			return fmt.Errorf("features: join: %w", err)
		}
		if done += s.Rows; j.progress != nil {
			j.progress(done, j.info.Rows)
		}
	}
	j.info.Sum = hex.EncodeToString(sum.Sum(nil))
	if err := part.Sync(); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return nil
}

// copyRows appends the rows of a store, after the header of the whole if it is the first, and verifies the
// store's checksum on the way. like is the first store's header: the others must have rows of the same type and
// shape.
func copyRows(to io.Writer, s *Store, first bool, like *npyHeader, rows int) error {
	f, err := s.openStoreFile(VectorsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	damaged := func(format string, args ...any) error { return &SourceError{s.Dir, fmt.Errorf(format, args...)} }
	sum := sha256.New()
	from := io.TeeReader(f, sum)
	h, err := readNPYHeader(from)
	if err != nil {
		return damaged("%w", err)
	}
	if h.shape[0] != s.Rows {
		return damaged("%d rows, expected %d as %s says", h.shape[0], s.Rows, storeFile)
	}
	if first {
		*like = h
		if _, err := to.Write(encodeNPYHeader(h.descr, append([]int{rows}, h.shape[1:]...)...)); err != nil {
			return err
		}
	}
	if h.descr != like.descr || !slices.Equal(h.shape[1:], like.shape[1:]) {
		return damaged("rows of %s %v, expected %s %v as in the first store", h.descr, h.shape[1:], like.descr,
			like.shape[1:])
	}
	if _, err := io.CopyBuffer(onlyWriter{to}, from, make([]byte, 1<<20)); err != nil {
		return fmt.Errorf("%s: %w", s.Dir, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != s.Sum {
		return damaged("%s: sha256 %.12s…, expected %.12s…: the file has changed since it was written", VectorsFile,
			got, s.Sum)
	}
	return nil
}

// onlyWriter hides the other methods of a writer, so that copying uses the given buffer.
type onlyWriter struct{ io.Writer }
