// Package extraction computes the features of a list of images into a feature store. It makes a new store, continues an
// unfinished store, or keeps a finished store.
package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/models"
)

// Extraction describes a feature store to make, by a backbone, images and settings that exist and are valid.
type Extraction struct {
	Out       string // folder of the store; with a shard, of the store to which the shard belongs
	Overwrite bool
	Root      fs.FS
	From      location.Source // where Root is, to be recorded in the store; may be zero
	Paths     []string
	Model     *models.Backbone
	Cut       *models.Prepared
	Config    backbone.ExtractConfig
	DType     string // number type of the store; "": float32
	Memory    int64  // limit in bytes for a batch; 0: the available memory
	// Contents recognises unchanged images by size and CRC-32 instead of size and time, which a fresh checkout changes.
	Contents bool

	looks  []backbone.Look // measurements of the images of Paths that were decoded; nil: none was
	shard  cluster.Shard   // the shard to which Paths is limited
	total  int             // number of images of all shards
	images string          // features.HashPaths of the images of all shards
}

// Host holds the functions and limits that the calling program provides to an extraction. The zero value opens the
// installed ONNX Runtime and prints nothing.
type Host struct {
	Runtime   func() (*ort.Runtime, error)                         // called only if something is computed
	Note      func(format string, args ...any)                     // receives notes for the user
	Images    func() (observe func(backbone.Progress), end func()) // shows progress
	GPUMemory int64                                                // limit in bytes; 0: none
	Winnow    string                                               // version of the program, recorded in the store
	Stores    []string                                             // folders of stores that [Extraction.CopyStore] uses
}

// Complete returns the host with defaults for the functions that are nil.
func (h Host) Complete() Host {
	if h.Runtime == nil {
		h.Runtime = func() (*ort.Runtime, error) { return ort.Open(ort.Config{}) }
	}
	if h.Note == nil {
		h.Note = func(string, ...any) {}
	}
	if h.Images == nil {
		h.Images = func() (func(backbone.Progress), func()) { return nil, func() {} }
	}
	return h
}

// Result is the result of an extraction, as printed by `winnow extract --json`.
type Result struct {
	Store     string         `json:"store"`
	Rows      int            `json:"rows"`
	Dim       int            `json:"dim"`
	Views     []string       `json:"views"`
	DType     string         `json:"dtype"`
	Model     string         `json:"model"`
	Output    string         `json:"output"`
	Device    string         `json:"device"`
	Batch     int            `json:"batch"`             // images per run of the network
	Shard     string         `json:"shard,omitempty"`   // i/n
	Complete  bool           `json:"complete"`          // the store existed and was not changed
	Resumed   int            `json:"resumed"`           // number of rows from an earlier run
	Seconds   float64        `json:"seconds"`           // duration of this run
	PerSecond float64        `json:"images_per_second"` // speed of this run
	Bad       []features.Bad `json:"unreadable"`        // unreadable images; their rows are zero

	sum   string          // checksum of the store's vectors
	whole location.Source // for a shard, the store to which it belongs
}

// Key returns the key of the features to compute.
func (e *Extraction) Key() features.Key {
	return features.Key{Model: e.Model.SHA256, Output: e.Cut.Cut, Preprocessing: e.Config.Preprocessing.Key(),
		Decoder: e.Config.Preprocessing.DecoderVersion(), Views: e.Config.ViewNames(),
		Images: features.HashPaths(e.Paths), DType: e.DType}
}

// Store makes or finishes the store if necessary, and opens it.
func (e *Extraction) Store(ctx context.Context, h Host) (*features.Store, error) {
	if _, err := e.Run(ctx, h); err != nil {
		return nil, err
	}
	return features.Open(e.Out)
}

// Run makes the store, or its part for the shard, unless it exists.
func (e *Extraction) Run(ctx context.Context, h Host) (Result, error) {
	if !e.shard.Whole() {
		return e.makeShardPart(ctx, h)
	}
	if changed, err := e.hasChangedImages(ctx, h.Complete()); err != nil || changed {
		if err != nil {
			return Result{}, err
		}
		return e.Update(ctx, h)
	}
	return e.makeOutStore(ctx, h)
}

// hasChangedImages reports whether the folder Out holds the finished store of these images and some image files have
// changed or are gone since. It returns false for object stores, which would need one request per image, and for .zip
// files.
func (e *Extraction) hasChangedImages(ctx context.Context, h Host) (bool, error) {
	if e.Overwrite || len(e.Key().Views) > 1 || regular.OnlyFiles(e.Root) {
		return false, nil
	}
	old, err := features.Open(e.Out)
	if err != nil || old.Key.Differs(e.Key()) != "" {
		return false, nil // makeOutStore returns the error
	}
	now, err := e.recordFiles(ctx)
	if err != nil {
		return false, err
	}
	noted := e.readSeenRecord(h, SeenFile, old.Key.Images, old.Sum)
	if !areDated(now) || !areDated(noted) {
		return false, nil
	}
	_, _, news, gone := e.compareRecords(old, noted, now)
	return news != "" || gone != "", nil
}

// areDated reports whether a record of files has times, unlike that of a .zip file's entries.
func areDated(record []string) bool {
	return !slices.ContainsFunc(record, func(file string) bool { return file != "" && !strings.HasSuffix(file, "Z") })
}

// CopyStore copies the first of h.Stores that has the features of these images to the folder Out, unless Out exists,
// and returns its folder. It copies only stores that record the image files, so that Store notices changed images.
func (e *Extraction) CopyStore(h Host) (from string, err error) {
	if _, err := os.Stat(e.Out); err == nil || regular.OnlyFiles(e.Root) {
		return "", nil
	}
	for _, dir := range h.Stores {
		old, err := features.Open(dir)
		if err != nil || old.Key.Differs(e.Key()) != "" {
			continue
		}
		s, err := readSeen(dir, SeenFile)
		if err != nil || s.Features != old.Sum || !areDated(s.Files) {
			continue
		}
		partial := e.Out + ".partial"
		if err = cmp.Or(os.RemoveAll(partial), os.CopyFS(partial, os.DirFS(dir))); err == nil {
			err = os.Rename(partial, e.Out)
		}
		return dir, err
	}
	return "", nil
}

// makeOutStore makes the store in the folder Out.
func (e *Extraction) makeOutStore(ctx context.Context, h Host) (Result, error) {
	if !e.Overwrite {
		if r, done, err := e.findFinishedStore(ctx); done || err != nil {
			return r, err
		}
	}
	h = h.Complete()
	rt, net, err := e.loadNetwork(h)
	if err != nil {
		return Result{}, err
	}
	defer net.Close()
	w, err := features.Create(e.Out, features.Plan{Key: e.Key(), Paths: e.Paths, Dim: net.Dim(), Batch: e.Config.Batch,
		Device: rt.Where(), Winnow: h.Winnow, ModelFile: Absolute(e.Model.Path)}, e.Overwrite)
	if err != nil {
		return Result{}, e.storeHint(err)
	}
	defer w.Close()
	files, err := e.beginRecord(ctx, h, w)
	if err != nil {
		return Result{}, err
	}
	r, err := e.fillStore(ctx, h, w, net)
	if err != nil || files == nil {
		return r, err
	}
	return r, e.noteRecord(r.sum, files)
}

// beginRecord records size and time of the image files before they are read, and returns the record; nil if that would
// take a request to a server for each file. A continued store keeps its first record.
func (e *Extraction) beginRecord(ctx context.Context, h Host, w *features.Writer) ([]string, error) {
	if regular.OnlyFiles(e.Root) {
		return nil, nil
	}
	if w.Rows() > 0 {
		if files := e.readSeenRecord(h, begunFile, features.HashPaths(e.Paths), ""); files != nil {
			return files, nil
		}
	}
	files, err := e.recordFiles(ctx)
	if err != nil {
		return nil, err
	}
	return files, e.noteRecord("", files)
}

// loadNetwork opens the runtime, chooses the batch size, and loads the network.
func (e *Extraction) loadNetwork(h Host) (*ort.Runtime, ort.Networks, error) {
	rt, err := h.Runtime()
	if err != nil {
		return nil, nil, err
	}
	e.settleBatch(h, rt)
	net, err := ort.NewNetworks(rt, e.Cut.Model, e.Cut.Tensor, NetworkInput(e.Cut, e.Config.Preprocessing))
	if err != nil {
		return rt, net, RefusedByRuntime(e.Model, err)
	}
	return rt, net, nil
}

// findFinishedStore returns the result for a finished store in the folder Out, and whether there is one.
func (e *Extraction) findFinishedStore(ctx context.Context) (Result, bool, error) {
	s, err := features.Standing(ctx, e.Out, e.Key())
	if s == nil {
		return Result{}, false, e.storeHint(err)
	}
	if err := e.refuseUnreadable(s.Bad); err != nil {
		return Result{}, false, err
	}
	r := e.newStoreResult(s)
	r.Complete, r.Resumed = true, s.Rows
	return r, true, nil
}

// refuseUnreadable returns an error if this run is strict and an earlier run found unreadable images.
func (e *Extraction) refuseUnreadable(bad []features.Bad) error {
	if !e.Config.Strict || len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("extract: %s: %s (found by an earlier run)", bad[0].Path, bad[0].Reason)
}

// storeHint adds advice to the error if the folder holds another store or a damaged store.
func (e *Extraction) storeHint(err error) error {
	if _, ok := errors.AsType[*features.KeyError](err); ok {
		return hint.With(err, "name another folder with --out, use the store's settings, or give --overwrite")
	}
	if _, ok := errors.AsType[*features.DamageError](err); ok {
		return hint.With(err, "--overwrite replaces it")
	}
	return err
}

// fillStore computes the vectors that an unfinished store lacks, and finishes it.
func (e *Extraction) fillStore(ctx context.Context, h Host, w *features.Writer, net ort.Networks) (Result, error) {
	if err := e.refuseUnreadable(w.Bad()); err != nil {
		return Result{}, err
	}
	resumed := w.Rows()
	if resumed > 0 {
		h.Note("continuing after %d of %d images", resumed, len(e.Paths))
	}
	start := time.Now()
	observe, end := h.Images()
	defer end()
	cfg, looks := e.Config, make([]backbone.Look, len(e.Paths))
	cfg.Looked = func(image int, l backbone.Look) { looks[image] = l }
	e.looks = looks
	if err := backbone.Extract(ctx, cfg, net, e.Root, e.Paths, w, observe); err != nil {
		if _, ok := errors.AsType[*backbone.NoneReadable](err); ok {
			err = hint.With(errors.Join(err, w.Discard()), "check --root: the manifest's paths must be relative to "+
				"this folder")
		}
		return Result{}, adviseOnStop(err)
	}
	s, err := w.Finish(ctx)
	if err != nil {
		return Result{}, err
	}
	r := e.newStoreResult(s)
	r.Resumed, r.Seconds = resumed, time.Since(start).Seconds()
	r.PerSecond = float64(s.Rows-resumed) / r.Seconds
	return r, nil
}

// adviseOnStop adds advice to the error if the network failed on some images.
func adviseOnStop(err error) error {
	at, ok := errors.AsType[*backbone.NetworkError](err)
	if !ok || ort.GPUHint(err, "") != "" {
		return err
	}
	if len(at.Images) > 1 {
		return hint.With(err, "the features computed so far are kept; the network may not take %d images at once: try "+
			"a smaller batch, or export it with a free batch", len(at.Images))
	}
	return hint.With(err, "the features computed so far are kept; export the network again, or name another network")
}

func (e *Extraction) newStoreResult(s *features.Store) Result {
	return Result{Store: e.Out, Rows: s.Rows, Dim: s.Dim, Views: s.Key.Views, DType: s.Key.Element(),
		Model:  e.Model.Name,
		Output: s.Key.Output, Device: s.Device, Batch: s.Batch, Bad: s.Bad, sum: s.Sum}
}

// Absolute returns the absolute form of a path, and "" for "".
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && path != "" {
		return full
	}
	return path
}
