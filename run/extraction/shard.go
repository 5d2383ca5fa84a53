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

// Job divides an extraction. Its parts are stores.
var Job = cluster.Job{Name: "extract", Unit: "images", Merge: mergeStores}

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
		o.Note("the shards were made on different devices (%s): last bits may differ from those of one device",
			s.Device)
	}
	return Joined{Store: w.Out, Shards: w.Of, Rows: s.Rows, Dim: s.Dim, Device: s.Device, Bad: len(s.Bad),
		Complete: complete}, nil
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
