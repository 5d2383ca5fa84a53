package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
)

// Job divides an extraction. Its parts are stores. The merge reads their vectors once and compares their sums while it
// copies them.
var Job = cluster.Job[struct{}]{Name: "extract", Unit: "images", Merge: mergeStores, Copied: features.VectorsFile}

// TakeShard keeps the images of one shard: whole batches, so that every number equals that of one machine to the bit.
// A batch of 0 becomes the usual one, because machines with different memory must agree on it.
func (e *Extraction) TakeShard(s cluster.Shard) error {
	if s.Whole() {
		return nil
	}
	e.Config.Batch = cmp.Or(e.Config.Batch, UsualBatch)
	first, end, err := s.Range(len(e.Paths), e.Config.Batch)
	if err != nil {
		return err
	}
	e.shard, e.total, e.images = s, len(e.Paths), features.HashPaths(e.Paths)
	e.Paths = clonePaths(e.Paths[first:end])
	return nil
}

// clonePaths copies a part of a list so that the rest can be freed.
func clonePaths(paths []string) []string {
	all, list := strings.Join(paths, ""), make([]string, len(paths))
	for i, p := range paths {
		list[i], all = all[:len(p)], all[len(p):]
	}
	return list
}

// makeShardPart makes the part of this shard.
func (e *Extraction) makeShardPart(ctx context.Context, h Host) (r Result, err error) {
	key := e.Key()
	rows := cluster.Rows{Total: e.total, Batch: e.Config.Batch,
		Inputs: map[string]string{"model": key.Model, "images": e.images},
		Settings: map[string]string{"output": key.Output, "preprocessing": key.Preprocessing, "decoder": key.Decoder,
			"views": strings.Join(key.Views, "+"), "dtype": key.Element(), "batch": strconv.Itoa(e.Config.Batch)},
		Winnow: h.Winnow}
	if key.Precision != "" {
		rows.Settings["precision"] = key.Precision
	}
	own := *e
	made, err := Job.Fill(ctx, location.At(e.Out), e.shard, rows, e.Overwrite, func(at string) (err error) {
		own.Out = at
		r, err = own.makeOutStore(ctx, h)
		return err
	})
	if err != nil {
		return r, err
	}
	if made.Complete {
		s, err := openPart(ctx, made.Part)
		if err != nil {
			return r, err
		}
		if r, err = e.newStoreResult(s), e.refuseUnreadable(s.Bad); err != nil {
			return r, err
		}
		r.Resumed = s.Rows
	}
	r.Store, r.Shard, r.Complete, r.whole = made.Part.String(), made.Shard, made.Complete, made.Out
	return r, nil
}

// openPart opens a store that is a part or was joined from parts, also in an object store.
func openPart(ctx context.Context, at location.Source) (*features.Store, error) {
	if !at.IsRemote() {
		return features.Open(at.Path())
	}
	files, err := at.Dir(ctx)
	if err != nil {
		return nil, err
	}
	return features.OpenIn(files, at.String())
}

// Joined is the outcome of a merge, as `winnow join --json` prints it.
type Joined struct {
	Store    location.Source `json:"store"`
	Shards   int             `json:"shards"`
	Rows     int             `json:"rows"`
	Dim      int             `json:"dim"`
	Device   string          `json:"device"`
	Bad      int             `json:"unreadable"`
	Complete bool            `json:"complete"` // it existed already: nothing was done
}

// mergeStores makes the store that one machine makes, byte for byte. If a part is damaged, it verifies all of them.
func mergeStores(ctx context.Context, w *cluster.Whole, _ iter.Seq2[struct{}, error],
	o cluster.JoinOptions) (cluster.Result, error) {
	list := make([]*features.Store, len(w.Parts))
	for i, p := range w.Parts {
		var err error
		if list[i], err = openPart(ctx, p.Path); err != nil {
			return nil, cmp.Or(w.Verify(ctx), err)
		}
	}
	var s *features.Store
	var err error
	if w.Out.IsRemote() {
		s, err = joinRemote(ctx, w, list, o)
	} else {
		s, err = features.Join(list, w.Out.Path(), o.Overwrite, o.Progress)
	}
	complete := errors.Is(err, features.ErrComplete)
	if complete {
		s, err = openPart(ctx, w.Out)
	}
	if _, changed := errors.AsType[*features.SourceError](err); changed {
		err = cmp.Or(w.Verify(ctx), err)
	}
	_, other := errors.AsType[*features.KeyError](err)
	if _, damaged := errors.AsType[*features.DamageError](err); other || damaged {
		return nil, hint.With(err, "rename it, or replace it with --overwrite")
	}
	if err != nil {
		return nil, err
	}
	if strings.Contains(s.Device, ",") {
		o.Note("the shards were made on different devices (%s): last bits may differ from those of one device",
			s.Device)
	}
	return Joined{Store: w.Out, Shards: w.Of, Rows: s.Rows, Dim: s.Dim, Device: s.Device, Bad: len(s.Bad),
		Complete: complete}, nil
}

// joinRemote joins in a temporary folder, then puts the store into an object store, store.json last.
func joinRemote(ctx context.Context, w *cluster.Whole, list []*features.Store,
	o cluster.JoinOptions) (_ *features.Store, err error) {
	if old, err := openPart(ctx, w.Out); err == nil && !o.Overwrite {
		key := list[0].Key
		key.Images = w.Inputs["images"]
		if why := old.Key.Differs(key); why != "" {
			return nil, &features.KeyError{Dir: w.Out.String(), Why: why}
		}
		return nil, features.ErrComplete
	}
	dir, err := os.MkdirTemp("", "winnow-join-")
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := features.Join(list, dir, true, o.Progress)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range s.Files() { // store.json is the last
		names = append(names, filepath.Base(file))
	}
	return s, cluster.PutFolder(ctx, w.Out, dir, names...)
}

// Write writes the outcome for people.
func (j Joined) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d images × %d values from %d shards, %d unreadable\n", j.Store, j.Rows, j.Dim,
		j.Shards, j.Bad)
	if err == nil && j.Complete {
		_, err = fmt.Fprintln(w, "it was complete: nothing to do")
	}
	return err
}
