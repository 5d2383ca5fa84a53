package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
)

// Job is the description of an extraction for package cluster. Its parts are feature stores.
var Job = cluster.Job{Name: "extract", Unit: "images", Merge: mergeStores}

// TakeShard limits the extraction to the images of one shard. A shard holds whole batches, so that the joined features
// equal those of one machine to the bit. An automatic batch (0) becomes UsualBatch, because machines with different
// memory must use the same batch.
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

// clonePaths copies paths, so that the memory of the list they come from can be freed.
func clonePaths(paths []string) []string {
	all, list := strings.Join(paths, ""), make([]string, len(paths))
	for i, p := range paths {
		list[i], all = all[:len(p)], all[len(p):]
	}
	return list
}

// makeShardPart makes the store of this shard.
func (e *Extraction) makeShardPart(ctx context.Context, h Host) (r Result, err error) {
	key := e.Key()
	rows := cluster.Rows{Total: e.total, Batch: e.Config.Batch,
		Inputs: map[string]string{"model": key.Model, "images": e.images},
		Settings: map[string]string{"output": key.Output, "preprocessing": key.Preprocessing, "decoder": key.Decoder,
			"views": strings.Join(key.Views, "+"), "dtype": key.Element(), "batch": strconv.Itoa(e.Config.Batch)},
		Winnow: h.Winnow}
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
		s, err := features.Open(made.Part.Path())
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

// Joined is the result of joining shards, as printed by `winnow join --json`.
type Joined struct {
	Store    location.Source `json:"store"`
	Shards   int             `json:"shards"`
	Rows     int             `json:"rows"`
	Dim      int             `json:"dim"`
	Device   string          `json:"device"`
	Bad      int             `json:"unreadable"`
	Complete bool            `json:"complete"` // the joined store existed and was not changed
}

// mergeStores joins the stores of all shards into the store that one machine would make, byte for byte. If a part is
// damaged, mergeStores verifies all parts and returns what is wrong.
func mergeStores(ctx context.Context, w *cluster.Whole, o cluster.JoinOptions) (cluster.Result, error) {
	list := make([]*features.Store, len(w.Parts))
	for i, p := range w.Parts {
		var err error
		if list[i], err = features.Open(p.Path.Path()); err != nil {
			return nil, cmp.Or(w.Verify(ctx), err)
		}
	}
	s, err := features.Join(ctx, list, w.Out.Path(), o.Overwrite, o.Progress)
	complete := errors.Is(err, features.ErrComplete)
	if complete {
		s, err = features.Open(w.Out.Path())
	}
	if _, changed := errors.AsType[*features.SourceError](err); changed {
		return nil, cmp.Or(w.Verify(ctx), err)
	}
	_, other := errors.AsType[*features.KeyError](err)
	if _, damaged := errors.AsType[*features.DamageError](err); other || damaged {
		return nil, hint.With(err, "rename it, or replace it with --overwrite")
	}
	if err != nil {
		return nil, err
	}
	if strings.Contains(s.Device, ",") {
		o.Note("the shards were computed on different devices (%s): the last bits may differ from the features of one "+
			"device", s.Device)
	}
	return Joined{Store: w.Out, Shards: w.Of, Rows: s.Rows, Dim: s.Dim, Device: s.Device, Bad: len(s.Bad),
		Complete: complete}, nil
}

// Write writes the result as text.
func (j Joined) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d images × %d values from %d shards, %d unreadable\n", j.Store, j.Rows, j.Dim,
		j.Shards, j.Bad)
	if err == nil && j.Complete {
		_, err = fmt.Fprintln(w, "the store was complete: nothing to do")
	}
	return err
}
