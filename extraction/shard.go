package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/parts"
)

// Job names extractions in their parts.
const Job = "extract"

// TakeShard keeps the images of one shard: whole batches, so that every number is the one of a single machine, to the bit. A batch of 0
// becomes the usual one: machines with different memory must agree on it.
func (e *Extraction) TakeShard(s parts.Shard) error {
	if s.Whole() {
		return nil
	}
	e.Config.Batch = cmp.Or(e.Config.Batch, UsualBatch)
	shard, paths, err := features.ShardOf(e.Paths, s.Index, s.Of, e.Config.Batch)
	if err != nil {
		return err
	}
	e.shard, e.Paths, e.deal = &shard, own(paths), s
	return nil
}

// own copies a part of a list, so that the rest may go.
func own(paths []string) []string {
	all, list := strings.Join(paths, ""), make([]string, len(paths))
	for i, p := range paths {
		list[i], all = all[:len(p)], all[len(p):]
	}
	return list
}

// header says what the part is of.
func (e *Extraction) header(winnow string) (parts.Header, error) {
	key := e.Key()
	return parts.NewHeader(Job, e.deal, e.shard.Total, e.Config.Batch, "images",
		map[string]string{"model": key.Model, "images": e.shard.Images},
		map[string]string{"output": key.Output, "preprocessing": key.Preprocessing, "decoder": key.Decoder,
			"views": strings.Join(key.Views, "+"), "dtype": key.Element(), "batch": strconv.Itoa(e.Config.Batch)}, winnow)
}

// part makes the store of this shard among the parts of the whole.
func (e *Extraction) part(ctx context.Context, h Host) (Result, error) {
	header, err := e.header(h.Winnow)
	if err != nil {
		return Result{}, err
	}
	at, state, err := parts.Begin(ctx, e.Out, header, e.Overwrite)
	if err != nil {
		return Result{}, err
	}
	own := *e
	own.Out = at
	if state == parts.Present && location.At(at).IsRemote() {
		s, err := openPart(ctx, at)
		if err != nil {
			return Result{}, err
		}
		r := own.result(s)
		r.Complete, r.Resumed = true, s.Rows
		return r, own.strictly(s.Bad)
	}
	r, err := own.store(ctx, h)
	if err == nil && state != parts.Present {
		err = parts.Finish(ctx, e.Out, header, at)
	}
	if r.Store = parts.Path(e.Out, header.Shard, header.Of); location.At(r.Store).IsRemote() {
		r.Complete = false // it was not there
	}
	return r, err
}

// openPart opens the store that is a part, or that parts were joined to, also in an object store.
func openPart(ctx context.Context, at string) (*features.Store, error) {
	if !location.At(at).IsRemote() {
		return features.Open(at)
	}
	files, err := location.At(at).Dir(ctx)
	if err != nil {
		return nil, err
	}
	return features.OpenIn(files, at)
}

// Joiner puts the parts of an extraction together. It reads their vectors once: their sums are compared while they are copied.
var Joiner = parts.Joiner{Join: joinParts, Sums: features.VectorsFile}

// Joined is an outcome of Joiner, as `winnow join --json` prints it.
type Joined struct {
	Store    string `json:"store"`
	Shards   int    `json:"shards"`
	Rows     int    `json:"rows"`
	Dim      int    `json:"dim"`
	Device   string `json:"device"`
	Bad      int    `json:"unreadable"`
	Complete bool   `json:"complete"` // it was there already: nothing was done
}

// joinParts makes the store of one machine from parts, byte for byte. Where one of them is damaged, all of them are looked at.
func joinParts(ctx context.Context, w *parts.Whole, o parts.JoinOptions) (parts.Result, error) {
	shards := make([]*features.Store, len(w.Parts))
	for i, p := range w.Parts {
		var err error
		if shards[i], err = openPart(ctx, p.Path); err != nil {
			return nil, cmp.Or(w.Verify(ctx), err)
		}
	}
	join := joinHere
	if location.At(w.Out).IsRemote() {
		join = joinThere
	}
	s, err := join(ctx, shards, w.Out, o)
	complete := errors.Is(err, features.ErrComplete)
	if complete {
		s, err = openPart(ctx, w.Out)
	}
	if _, changed := errors.AsType[*features.ShardError](err); changed {
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
		o.Note("the shards were made on different devices (%s): their last bits are not those of one", s.Device)
	}
	return Joined{Store: w.Out, Shards: w.Of, Rows: s.Rows, Dim: s.Dim, Device: s.Device, Bad: len(s.Bad), Complete: complete}, nil
}

func joinHere(_ context.Context, shards []*features.Store, out string, o parts.JoinOptions) (*features.Store, error) {
	return features.JoinStores(shards, out, o.Overwrite, o.Progress)
}

// joinThere joins in the folder of temporary files, and puts what it made into an object store, store.json last.
func joinThere(ctx context.Context, shards []*features.Store, out string, o parts.JoinOptions) (_ *features.Store, err error) {
	if old, err := openPart(ctx, out); err == nil && !o.Overwrite {
		key := shards[0].Key
		key.Images = shards[0].Shard.Images
		if why := old.Differs(key, nil); why != "" {
			return nil, &features.KeyError{Dir: out, Why: why}
		}
		return nil, features.ErrComplete
	}
	dir, err := os.MkdirTemp("", "winnow-join-")
	if err != nil {
		return nil, fmt.Errorf("extract: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := features.JoinStores(shards, dir, true, o.Progress)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range s.Files() { // the last of them is the one that is written last
		names = append(names, filepath.Base(file))
	}
	return s, parts.PutFolder(ctx, out, dir, names...)
}

// Write writes the outcome for people.
func (j Joined) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d images × %d values from %d shards, %d unreadable\n", j.Store, j.Rows, j.Dim, j.Shards, j.Bad)
	if err == nil && j.Complete {
		_, err = fmt.Fprintln(w, "it was complete: nothing to do")
	}
	return err
}
