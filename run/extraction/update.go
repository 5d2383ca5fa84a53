package extraction

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/seal"
	files "winnow/internal/seen"
	"winnow/internal/text"
)

// Files that [Extraction.Update] adds to a store. A store without them is valid.
const (
	SeenFile  = "seen.json"
	begunFile = "seen.json.part" // in an unfinished store
)

const seenVersion = 1

// seen records the image files from which the vectors of a store were computed.
type seen struct {
	Version  int      `json:"version"`
	Images   string   `json:"images"`          // features.HashPaths of the list
	Features string   `json:"features_sha256"` // checksum of the store's vectors; "": the store is unfinished
	Files    []string `json:"files"`           // each image's size and mtime, in a .zip size and CRC; "": no file

	// Looks holds the measurements of each image ([backbone.Look]); "": unknown. nil: all are unknown.
	Looks []string `json:"looks,omitempty"`

	Root location.Place `json:"root,omitzero"` // folder of the images
}

// Update makes the store like Run, but if the folder holds a finished store of the same backbone, it keeps the vectors
// of unchanged images and computes only those of new and changed images. Adjacent vectors may then come from different
// batches, which changes their last bits. Update replaces a damaged store and a store of another backbone. It calls Run
// for shards and for several views of an image.
//
// An image is unchanged if its file has the size and mtime (or CRC-32) recorded in the store's folder or, without a
// record, if it is older than the store. After an interruption, the folder still holds the old store, or an
// unfinished store that the next call continues; the next call also reads images that changed in between.
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
			h.Note("%s: %s: their features are kept", e.Out, gone)
			told = true
		}
		switch {
		case old == nil || len(fresh) == len(e.Paths):
			e.Overwrite = e.Overwrite || old != nil
			if old != nil {
				h.Note("%s: %s since the features were made: computing all features again", e.Out, news)
			}
			r, err = e.makeWholeStore(ctx, h)
			e.Overwrite = false
		case news == "":
			r, err = e.makeOutStore(ctx, h)
			if _, damaged := errors.AsType[*features.DamageError](err); damaged {
				h.Note("%v: computing all features again", err)
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
			h.Note("%s: %s since the features were made; the features of the other images are kept", e.Out, news)
			r, err = e.renewStore(ctx, h, old, rows, fresh, now)
		}
		if err != nil {
			return r, err
		}
		looked, seconds = looked+r.Rows-r.Resumed, seconds+r.Seconds
	}
}

// recordFiles returns seen.Files for the images as they are now.
func (e *Extraction) recordFiles(ctx context.Context) ([]string, error) {
	files := make([]string, len(e.Paths))
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, path := range e.Paths {
		if inner.Err() != nil {
			break
		}
		group.Go(func() error {
			if info, err := fs.Stat(e.Root, path); err == nil {
				files[i] = e.describeFile(path, info)
			}
			return nil
		})
	}
	return files, cmp.Or(group.Wait(), ctx.Err())
}

// describeFile returns the size of a file and its time of change or CRC-32. A file that cannot be read has its time.
func (e *Extraction) describeFile(path string, info fs.FileInfo) string {
	if h, ok := info.Sys().(*zip.FileHeader); ok {
		return fmt.Sprintf("%d %08x", h.UncompressedSize64, h.CRC32)
	}
	if e.Contents && info.Mode().IsRegular() && !regular.OnlyFiles(e.Root) {
		if f, err := e.Root.Open(path); err == nil {
			defer f.Close()
			sum := crc32.NewIEEE()
			if n, err := io.Copy(sum, f); err == nil {
				return fmt.Sprintf("%d %08x", n, sum.Sum32())
			}
		}
	}
	return files.Line(info)
}

// standingSeen opens a finished store whose vectors can be kept. It returns nil if there is none. The second result is
// the record of its files, nil without a record.
func (e *Extraction) standingSeen(ctx context.Context, h Host) (*features.Store, []string) {
	if e.Overwrite {
		return nil, nil
	}
	old, err := features.Open(e.Out)
	if err != nil {
		has := func(name string) bool { _, err := os.Stat(filepath.Join(e.Out, name)); return err == nil }
		if has("store.json") { // damaged
			h.Note("%v: computing all features again", err)
			e.Overwrite = true
		} else if has(features.VectorsFile) && !has("progress.json") {
			h.Note("%s: found %s without store.json, which describes it: computing all features again", e.Out,
				features.VectorsFile)
		}
		return nil, nil
	}
	key := e.Key()
	key.Images = old.Key.Images
	if why := old.Key.Differs(key); why != "" {
		h.Note("%v: computing all features again", &features.KeyError{Dir: e.Out, Why: why})
		e.Overwrite = true
		return nil, nil
	}
	return old, e.readSeenRecord(h, SeenFile, old.Key.Images, old.Sum)
}

// compareRecords compares the images with the files that an old store records. rows holds the store's row of each
// unchanged image, and -1 for the other images, which fresh lists. news describes the difference in words, "" if there
// is none. gone describes the images whose vectors are kept although their files are missing, "" if there are none.
func (e *Extraction) compareRecords(old *features.Store, record, now []string) (rows []int, fresh []string, news,
	gone string) {
	if old == nil {
		return nil, e.Paths, "", ""
	}
	same := func(image, row int) bool { return now[image] == "" || record[row] == now[image] } // "": no file
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
	}{{missing, "added"}, {changed, "changed"}} {
		if n := len(part.paths); n > 0 {
			parts = append(parts,
				fmt.Sprintf("%s %s (the first is %s)", formatImages(n), part.what, text.Line(part.paths[0])))
		}
	}
	if n := old.Rows - (len(e.Paths) - len(missing)); n > 0 {
		parts = append(parts, formatImages(n)+" removed")
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

// isUnchangedSince reports whether an image file did not change after a time. It returns false for an image in a .zip
// file, whose time of change is unknown.
func (e *Extraction) isUnchangedSince(path string, made time.Time) bool {
	info, err := fs.Stat(e.Root, path)
	if err != nil {
		return true // the file is missing: keep its row
	}
	_, zipped := info.Sys().(*zip.FileHeader)
	return !zipped && (!info.ModTime().After(made) || info.ModTime().After(time.Now()))
}

// makeWholeStore makes or continues the store of all images. It replaces a damaged store or a store with another key.
func (e *Extraction) makeWholeStore(ctx context.Context, h Host) (Result, error) {
	r, err := e.makeOutStore(ctx, h)
	_, other := errors.AsType[*features.KeyError](err)
	_, damaged := errors.AsType[*features.DamageError](err)
	if other || damaged {
		h.Note("%v: computing all features again", err)
		e.Overwrite = true
		r, err = e.makeOutStore(ctx, h)
	}
	return r, err
}

// renewStore makes the store from rows of the old store and from the vectors of fresh images, which it computes into a
// temporary store.
func (e *Extraction) renewStore(ctx context.Context, h Host, old *features.Store, rows []int,
	fresh, now []string) (r Result, err error) {
	if err := old.Verify(ctx); err != nil {
		h.Note("%v: computing all features again", err)
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

// appendRowsOf appends rows of old to w. A row of -1 stands for the next row of added.
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

// readSeenRecord returns the record of the files if it belongs to this list of images and to a store with this
// checksum, else nil. It notes a damaged record.
func (e *Extraction) readSeenRecord(h Host, name, list, sum string) []string {
	s, err := readSeen(e.Out, name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.Note("%v: the record of the image files is ignored", err)
		}
		return nil
	}
	if s.Images != list || s.Features != sum {
		return nil
	}
	return s.Files
}

// readSeen reads and checks the record of the files in a store's folder.
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

// PicturesOf returns the folder or .zip file of the images of a store, as its record states; zero if it is unknown.
func PicturesOf(dir string) location.Source {
	s, err := readSeen(dir, SeenFile)
	if dir == "" || err != nil || s.Root.Absolute.IsZero() {
		return location.Source{}
	}
	return s.Root.Find(dir, nil)
}

// Changes returns a function that reports whether the image file of a store's row has changed since extraction.
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

// Stale returns a text on how many images of a store are missing or changed since their vectors were computed, ""
// if none is known to be.
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

// noteRecord records the files of the store whose vectors have this checksum; "" for an unfinished store.
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
