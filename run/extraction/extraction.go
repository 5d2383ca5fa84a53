// Package extraction turns a list of images into a feature store: it makes a store, continues one that was begun, or
// keeps a finished one.
package extraction

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// Extraction says which store to make. Backbone, images and settings have been found and checked.
type Extraction struct {
	Out       string // with a shard: the store of all images, of which a part is made
	Overwrite bool
	Root      fs.FS
	From      location.Source // that Root was opened from, for the record; may be zero
	Paths     []string
	Model     *models.Backbone
	Cut       *models.Prepared
	Config    backbone.ExtractConfig
	DType     string // of the store's numbers; "": float32
	Memory    int64  // bytes that a batch may use; 0: what the machine has left

	looks  []backbone.Look // of Paths, where they were decoded; nil: none were
	shard  cluster.Shard   // whose images are in Paths
	total  int             // images of all shards
	images string          // features.HashPaths of all shards
}

// Host is what an extraction needs from the program around it. The zero value opens the ONNX Runtime that is installed
// and prints nothing.
type Host struct {
	Runtime   func() (*ort.Runtime, error)                         // called only if something is computed
	Note      func(format string, args ...any)                     // tells the user a fact
	Images    func() (observe func(backbone.Progress), end func()) // shows progress
	GPUMemory int64                                                // limit in bytes; 0: none
	Winnow    string                                               // version of the program, for the store
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

// Result is an extraction's outcome, as `winnow extract --json` prints it.
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
	Complete  bool           `json:"complete"`          // it existed already: nothing was done
	Resumed   int            `json:"resumed"`           // rows of an earlier run
	Seconds   float64        `json:"seconds"`           // of this run
	PerSecond float64        `json:"images_per_second"` // of this run
	Bad       []features.Bad `json:"unreadable"`        // their rows hold zeros

	sum   string          // of the store's vectors
	whole location.Source // whose shard it is
}

// Key returns the key of the features asked for.
func (e *Extraction) Key() features.Key {
	return features.Key{Model: e.Model.SHA256, Output: e.Cut.Cut, Preprocessing: e.Config.Preprocessing.Key(),
		Decoder: e.Config.Preprocessing.DecoderVersion(), Views: e.Config.ViewNames(),
		Images: features.HashPaths(e.Paths), DType: e.DType}
}

// Store returns the finished store, after making or finishing it if necessary.
func (e *Extraction) Store(ctx context.Context, h Host) (*features.Store, error) {
	if _, err := e.Run(ctx, h); err != nil {
		return nil, err
	}
	return features.Open(e.Out)
}

// Run makes the store, or the part of its shard, unless it exists.
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

// hasChangedImages reports whether the folder Out holds the finished store of these images, some of which changed or
// are gone since. It does not ask object stores, which would answer for each image, and cannot compare files with those
// in .zip files.
func (e *Extraction) hasChangedImages(ctx context.Context, h Host) (bool, error) {
	if e.Overwrite || len(e.Key().Views) > 1 || regular.OnlyFiles(e.Root) {
		return false, nil
	}
	old, err := features.Open(e.Out)
	if err != nil || old.Key.Differs(e.Key()) != "" {
		return false, nil // store says what is wrong
	}
	now, err := e.recordFiles(ctx)
	if err != nil {
		return false, err
	}
	noted := e.readSeenRecord(h, SeenFile, old.Key.Images, old.Sum)
	dated := func(file string) bool { return file == "" || strings.HasSuffix(file, "Z") } // not of a .zip file
	if slices.ContainsFunc(now, func(file string) bool { return !dated(file) }) ||
		slices.ContainsFunc(noted, func(file string) bool { return !dated(file) }) {
		return false, nil
	}
	_, _, news, gone := e.compareRecords(old, noted, now)
	return news != "" || gone != "", nil
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

// beginRecord records the files of a store before they are read, and returns the record; nil if it would take a request
// to a server for each. A store that is continued keeps the record that it was begun with.
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

// loadNetwork opens the runtime, settles the batch, and loads the network.
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

// findFinishedStore returns the result of a finished store in the folder, if there is one.
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

// refuseUnreadable refuses the unreadable images of an earlier run if this one is strict.
func (e *Extraction) refuseUnreadable(bad []features.Bad) error {
	if !e.Config.Strict || len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("extract: %s: %s (found by an earlier run)", bad[0].Path, bad[0].Reason)
}

// storeHint adds what to do if the folder holds another store or a damaged one.
func (e *Extraction) storeHint(err error) error {
	if _, ok := errors.AsType[*features.KeyError](err); ok {
		return hint.With(err, "name another folder with --out, ask for the same again, or replace it with --overwrite")
	}
	if _, ok := errors.AsType[*features.DamageError](err); ok {
		return hint.With(err, "--overwrite replaces it")
	}
	return err
}

// fillStore computes the vectors that a begun store lacks and finishes it.
func (e *Extraction) fillStore(ctx context.Context, h Host, w *features.Writer, net ort.Networks) (Result, error) {
	if err := e.refuseUnreadable(w.Bad()); err != nil {
		return Result{}, err
	}
	resumed := w.Rows()
	if resumed > 0 {
		h.Note("going on after %d of %d images", resumed, len(e.Paths))
	}
	start := time.Now()
	observe, end := h.Images()
	defer end()
	cfg, looks := e.Config, make([]backbone.Look, len(e.Paths))
	cfg.Looked = func(image int, l backbone.Look) { looks[image] = l }
	e.looks = looks
	if err := backbone.Extract(ctx, cfg, net, e.Root, e.Paths, w, observe); err != nil {
		if _, ok := errors.AsType[*backbone.NoneReadable](err); ok {
			err = hint.With(errors.Join(err, w.Discard()), "is --root the folder that the manifest's paths are "+
				"relative to?")
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

// adviseOnStop adds what to do if the network did not run on some images.
func adviseOnStop(err error) error {
	at, ok := errors.AsType[*backbone.NetworkError](err)
	if !ok || ort.GPUHint(err, "") != "" {
		return err
	}
	if len(at.Images) > 1 {
		return hint.With(err, "what was computed is kept; the network may not take %d images at once: try a smaller "+
			"batch, or export it with a free batch", len(at.Images))
	}
	return hint.With(err, "what was computed is kept; export the network again, or name another one")
}

func (e *Extraction) newStoreResult(s *features.Store) Result {
	return Result{Store: e.Out, Rows: s.Rows, Dim: s.Dim, Views: s.Key.Views, DType: s.Key.Element(),
		Model:  e.Model.Name,
		Output: s.Key.Output, Device: s.Device, Batch: s.Batch, Bad: s.Bad, sum: s.Sum}
}

// Absolute returns a path that is valid in any working folder; "" stays.
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil && path != "" {
		return full
	}
	return path
}
