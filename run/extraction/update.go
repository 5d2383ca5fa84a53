package extraction

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/seal"
	files "winnow/internal/seen"
	"winnow/internal/text"
)

// Files that [Extraction.Update] adds to a store. A store without them is complete, too.
const (
	SeenFile  = "seen.json"
	begunFile = "seen.json.part" // of a store that was begun
)

const seenVersion = 1

// seen records the files that a store's vectors were made from.
type seen struct {
	Version  int      `json:"version"`
	Images   string   `json:"images"`          // features.HashPaths of the list
	Features string   `json:"features_sha256"` // of the store; "": it was begun
	Files    []string `json:"files"`           // of each image size and time, in a .zip size and checksum; "": none

	// Looks are what was measured of each picture ([backbone.Look]); "": unknown. nil: of none.
	Looks []string `json:"looks,omitempty"`

	Root location.Place `json:"root,omitzero"` // where they were
}

// Update makes the store as Run does, but keeps the vectors of unchanged images if its folder holds a finished store of
// the same backbone: it computes only those of images that are new or changed. Neighbouring vectors may then come from
// different batches, which changes last bits. A store of something else, or a damaged one, is replaced. Shards, and
// several views of an image, are left to Run.
//
// An image is unchanged if its file has the size and the time of change recorded in the store's folder; without a
// record, if it is older than the store. If Update is interrupted, the old store is still there, or a begun one that
// the next call continues; images that changed in between are read again.
func (e *Extraction) Update(ctx context.Context, h Host) (Result, error) {
	if !e.shard.Whole() || len(e.Key().Views) > 1 {
		return e.Run(ctx, h)
	}
	h = h.Complete()
	now, err := e.recordFiles(ctx)
	if err != nil {
		return Result{}, err
	}
	looked, seconds, told := 0, 0.0, false
	for {
		var r Result
		old, files := e.standingSeen(ctx, h)
		rows, fresh, news, gone := e.compareRecords(old, files, now)
		if gone != "" && !told {
			h.Note("%s: %s: what was made of them is kept", e.Out, gone)
			told = true
		}
		switch {
		case old == nil || len(fresh) == len(e.Paths):
			e.Overwrite = e.Overwrite || old != nil
			if old != nil {
				h.Note("%s: %s since the features were made: all are made again", e.Out, news)
			}
			r, err = e.makeWholeStore(ctx, h)
			e.Overwrite = false
		case news == "":
			r, err = e.makeOutStore(ctx, h)
			if _, damaged := errors.AsType[*features.DamageError](err); damaged {
				h.Note("%v: all are made again", err)
				e.Overwrite = true
				continue
			}
			if err == nil && files == nil {
				e.looks = looksIn(e.Out, old.Sum, old.Rows)
				err = e.noteRecord(r.sum, now)
			}
			r.Complete = looked == 0
			r.Resumed, r.Seconds = r.Rows-looked, seconds
			return r, err
		default:
			h.Note("%s: %s since the features were made; those of the others are kept", e.Out, news)
			r, err = e.renewStore(ctx, h, old, rows, fresh, now)
		}
		if err != nil {
			return r, err
		}
		looked, seconds = looked+r.Rows-r.Resumed, seconds+r.Seconds
	}
}

// recordFiles returns what seen records, for each image as it is now.
func (e *Extraction) recordFiles(ctx context.Context) ([]string, error) {
	files := make([]string, len(e.Paths))
	for i, path := range e.Paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if info, err := fs.Stat(e.Root, path); err == nil {
			files[i] = fileOf(info)
		}
	}
	return files, nil
}

func fileOf(info fs.FileInfo) string {
	if h, ok := info.Sys().(*zip.FileHeader); ok {
		return fmt.Sprintf("%d %08x", h.UncompressedSize64, h.CRC32)
	}
	return files.Line(info)
}

// standingSeen opens a finished store whose vectors can be kept, with the record of its files, nil without one.
func (e *Extraction) standingSeen(ctx context.Context, h Host) (*features.Store, []string) {
	if e.Overwrite {
		return nil, nil
	}
	old, err := features.Open(e.Out)
	if err != nil {
		has := func(name string) bool { _, err := os.Stat(filepath.Join(e.Out, name)); return err == nil }
		if has("store.json") { // damaged
			h.Note("%v: all are made again", err)
			e.Overwrite = true
		} else if has(features.VectorsFile) && !has("progress.json") {
			h.Note("%s: found %s without store.json, which records what it holds: all are made again", e.Out,
				features.VectorsFile)
		}
		return nil, nil
	}
	key := e.Key()
	key.Images = old.Key.Images
	if why := old.Key.Differs(key); why != "" {
		h.Note("%v: all are made again", &features.KeyError{Dir: e.Out, Why: why})
		e.Overwrite = true
		return nil, nil
	}
	return old, e.readSeenRecord(h, SeenFile, old.Key.Images, old.Sum)
}

// compareRecords finds the store's row of each unchanged image; it is -1 for the others, which fresh lists. news says
// in words how the images differ from the store's, "" if they do not. gone says which of the kept vectors are of images
// that are no longer there, "" if none are.
func (e *Extraction) compareRecords(old *features.Store, record, now []string) (rows []int, fresh []string, news,
	gone string) {
	if old == nil {
		return nil, e.Paths, "", ""
	}
	same := func(image, row int) bool { return now[image] == "" || record[row] == now[image] } // "": gone
	if record == nil {
		made, err := os.Stat(old.Files()[0])
		same = func(image, _ int) bool { return err == nil && e.isUnchangedSince(e.Paths[image], made.ModTime()) }
	}
	rows, missing := old.Lookup(e.Paths)
	changed, bad, lost := []string{}, old.BadRows(), files.Tally{}
	for i, row := range rows {
		if _, never := bad[row]; row >= 0 && now[i] == "" && !never && e.isFileMissing(e.Paths[i]) {
			lost.Add(e.Paths[i], files.Gone)
		}
		if row >= 0 && !same(i, row) {
			rows[i], changed = -1, append(changed, e.Paths[i])
		}
		if rows[i] < 0 {
			fresh = append(fresh, e.Paths[i])
		}
	}
	var parts []string
	for _, part := range []struct {
		paths []string
		what  string
	}{{missing, "came"}, {changed, "changed"}} {
		if n := len(part.paths); n > 0 {
			parts = append(
				parts,
				fmt.Sprintf("%s %s, the first is %s", formatImages(n), part.what, text.Line(part.paths[0])),
			)
		}
	}
	if n := old.Rows - (len(e.Paths) - len(missing)); n > 0 {
		parts = append(parts, formatImages(n)+" went")
	}
	if parts == nil && old.Key.Images != features.HashPaths(e.Paths) {
		parts = []string{"the order of the images changed"}
	}
	if gone = lost.Words(); gone != "" {
		gone += " since the features were made, the first is " + text.Line(lost.First)
	}
	return rows, fresh, strings.Join(parts, "; "), gone
}

// isFileMissing reports whether an image's file does not exist.
func (e *Extraction) isFileMissing(path string) bool {
	_, err := fs.Stat(e.Root, path)
	return errors.Is(err, fs.ErrNotExist)
}

func formatImages(n int) string {
	if n == 1 {
		return "1 image"
	}
	return fmt.Sprintf("%d images", n)
}

// isUnchangedSince reports whether an image did not change after a time. In a .zip file that is unknown, which counts
// as changed.
func (e *Extraction) isUnchangedSince(path string, made time.Time) bool {
	info, err := fs.Stat(e.Root, path)
	if err != nil {
		return true // unreadable then and now
	}
	_, zipped := info.Sys().(*zip.FileHeader)
	return !zipped && (!info.ModTime().After(made) || info.ModTime().After(time.Now()))
}

// makeWholeStore makes the store of all images, or continues one.
func (e *Extraction) makeWholeStore(ctx context.Context, h Host) (Result, error) {
	r, err := e.makeOutStore(ctx, h)
	_, other := errors.AsType[*features.KeyError](err)
	_, damaged := errors.AsType[*features.DamageError](err)
	if other || damaged {
		h.Note("%v: all are made again", err)
		e.Overwrite = true
		r, err = e.makeOutStore(ctx, h)
	}
	return r, err
}

// renewStore makes the store from rows of the old one and from fresh images, whose vectors go through a store of their
// own.
func (e *Extraction) renewStore(ctx context.Context, h Host, old *features.Store, rows []int,
	fresh, now []string) (r Result, err error) {
	if err := old.Verify(ctx); err != nil {
		h.Note("%v: all are made again", err)
		e.Overwrite = true
		return Result{}, nil
	}
	files, device := slices.Clone(now), old.Device
	var added *features.Store
	side := *e
	side.Out, side.Paths, side.Config.Known = e.Out+".new", fresh, true
	if len(fresh) > 0 {
		if r, err = side.Update(ctx, h); err != nil {
			return r, err
		}
		if added, err = features.Open(side.Out); err != nil {
			return r, err
		}
		if device = added.Device; device != old.Device {
			device = old.Device + ", " + device
		}
		next := side.readSeenRecord(h, SeenFile, added.Key.Images, added.Sum)
		for i, row := range rows {
			if row < 0 && len(next) > 0 {
				files[i], next = next[0], next[1:]
			}
		}
	}
	e.looks = joinedLooks(old, added, rows)
	w, err := features.Create(e.Out, features.Plan{Key: e.Key(), Paths: e.Paths, Dim: old.Dim, Batch: old.Batch,
		Device: device, Winnow: h.Winnow, ModelFile: Absolute(e.Model.Path)}, true)
	if err != nil {
		return r, err
	}
	defer w.Close()
	if err := appendRowsOf(ctx, w, old, added, rows); err != nil {
		return r, err
	}
	s, err := w.Finish(ctx)
	if err != nil {
		return r, err
	}
	if err := e.noteRecord(s.Sum, files); err != nil {
		return r, err
	}
	copy(now, files)
	whole := e.newStoreResult(s)
	whole.Seconds, whole.Resumed = r.Seconds, s.Rows-(r.Rows-r.Resumed)
	return whole, os.RemoveAll(side.Out)
}

// appendRowsOf appends rows of old; for a row of -1 it appends the next row of added.
func appendRowsOf(ctx context.Context, w *features.Writer, old, added *features.Store, rows []int) error {
	reasons, next := [2]map[int]string{old.BadRows()}, 0
	if added != nil {
		reasons[1] = added.BadRows()
	}
	for _, row := range rows[:w.Rows()] {
		if row < 0 {
			next++
		}
	}
	for from := w.Rows(); from < len(rows); from = w.Rows() {
		part := rows[from:min(from+old.Batch, len(rows))]
		x, bad := features.NewMatrix(len(part), old.Dim), []features.Bad(nil)
		for i, row := range part {
			of, which := old, 0
			if row < 0 {
				of, which, row = added, 1, next
				next++
			}
			v, err := of.Read(ctx, []int{row})
			if err != nil {
				return err
			}
			copy(features.Row(x, i), v.Data)
			if why, is := reasons[which][row]; is {
				bad = append(bad, features.Bad{Row: from + i, Path: of.Paths[row], Reason: why})
			}
		}
		if err := w.Append(x, bad); err != nil {
			return err
		}
	}
	return nil
}

// readSeenRecord returns the record of the files of a list in a store with this sum, nil without one. A damaged one is
// noted.
func (e *Extraction) readSeenRecord(h Host, name, list, sum string) []string {
	s, err := readSeen(e.Out, name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.Note("%v: what it says of the images' files is not used", err)
		}
		return nil
	}
	if s.Images != list || s.Features != sum {
		return nil
	}
	return s.Files
}

// readSeen reads a record.
func readSeen(dir, name string) (s seen, err error) {
	file := filepath.Join(dir, name)
	data, err := regular.ReadFile(file, regular.Most)
	if err != nil {
		return s, err
	}
	if err := seal.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("extract: %s: %w", file, err)
	}
	if s.Version != seenVersion {
		return s, fmt.Errorf("extract: %s: version %d, expected %d", file, s.Version, seenVersion)
	}
	return s, nil
}

// PicturesOf returns the folder, or the file, of the images that a store was made of; none: it is unknown.
func PicturesOf(dir string) location.Source {
	s, err := readSeen(dir, SeenFile)
	if dir == "" || err != nil || s.Root.Absolute.IsZero() {
		return location.Source{}
	}
	return s.Root.Find(dir, nil)
}

// Changes returns a function that compares the file of a row of a store with the one that its vector was made from.
func Changes(store *features.Store) (func(row int) files.State, error) {
	unknown := func(int) files.State { return files.Same }
	s, err := readSeen(store.Dir, SeenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return unknown, nil
	}
	if err != nil {
		return nil, err
	}
	if s.Root.Absolute.IsZero() || s.Root.Absolute.IsRemote() || s.Features != store.Sum || len(s.Files) != store.Rows {
		return unknown, nil
	}
	root := s.Root.Find(store.Dir, nil).Path()
	return func(row int) files.State { return files.Compare(root, store.Paths[row], s.Files[row]) }, nil
}

// Stale says which of a store's images are gone or changed since their vectors were made, "" if none are known to be.
func Stale(ctx context.Context, store *features.Store) (string, error) {
	state, err := Changes(store)
	if err != nil {
		return "", err
	}
	var t files.Tally
	for row, path := range store.Paths {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		t.Add(path, state(row))
	}
	if words := t.Words(); words != "" {
		return fmt.Sprintf("%s: %s since the features were made, the first is %s", store.Dir, words,
			text.Line(t.First)), nil
	}
	return "", nil
}

// noteRecord records the files of a store with this sum of its vectors; "": of a store that is begun.
func (e *Extraction) noteRecord(sum string, files []string) error {
	name := SeenFile
	if sum == "" {
		name = begunFile
	}
	s := seen{Version: seenVersion, Images: features.HashPaths(e.Paths), Features: sum, Files: files}
	if sum != "" {
		s.Looks = textOf(e.looks)
	}
	if !e.From.IsZero() {
		s.Root = location.PlaceOf(e.Out, e.From)
	}
	data, err := seal.Marshal(s)
	if err == nil {
		err = os.MkdirAll(e.Out, 0o755)
	}
	if err == nil {
		err = atomicfile.WriteBytes(filepath.Join(e.Out, name), data)
	}
	if err == nil && sum != "" {
		if err = os.Remove(filepath.Join(e.Out, begunFile)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("extract: %w", err)
	}
	return nil
}
