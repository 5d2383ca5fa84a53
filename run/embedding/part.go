package embedding

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"winnow/cluster"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

// Job divides the computation of vectors.
var Job = cluster.Job[partRows]{Name: "embed", Unit: "images", Merge: mergeVectors}

// partRows is a batch of a part. The first has Dim and Model, the last Bad.
type partRows struct {
	Dim   int
	Model string
	Rows  []vectorfile.Row
	Bad   []features.Bad
}

// WritePart embeds a shard of the images, whole batches, into a part of the file out. If the part is there, the
// network is not loaded. unit divides vectors by their length.
func (e *Embedder) WritePart(ctx context.Context, h Host, out string, list *imageroot.List, o Options,
	s cluster.Shard, unit bool) (cluster.Made, error) {
	names := make([]string, 0, 3*len(list.Images))
	for _, n := range list.Images {
		names = append(names, n.Path, n.Label, n.Split)
	}
	rows := cluster.Rows{Total: len(list.Images), Batch: o.Batch,
		Inputs: map[string]string{"model": e.Embedder.Model, "head": e.Head, "images": features.HashPaths(names)},
		Settings: map[string]string{"output": e.Output, "preprocessing": e.Preprocessing, "decoder": e.Decoder,
			"batch": strconv.Itoa(o.Batch), "l2": strconv.FormatBool(unit)}, Winnow: h.Winnow}
	if e.Precision != "" {
		rows.Settings["precision"] = e.Precision
	}
	return Job.Do(ctx, location.At(out), s, rows, func(first, end int, put func(partRows) error) error {
		n, err := e.Load(h, 0, unit)
		if err != nil {
			return err
		}
		defer n.Close()
		if err := put(partRows{Dim: n.Dim(), Model: n.Backbone.Name}); err != nil {
			return err
		}
		mine := *list
		mine.Images = slices.Clone(list.Images[first:end])
		rows, err := n.writeReadable(ctx, &mine, partWriter(put), nil, o)
		if err != nil {
			return err
		}
		return put(partRows{Bad: rows.bad})
	})
}

// partWriter writes rows into a part. It implements vectorfile.Writer.
type partWriter func(partRows) error

func (put partWriter) Write(rows []vectorfile.Row) error {
	if len(rows) == 0 {
		return nil
	}
	return put(partRows{Rows: rows})
}

func (partWriter) Close() error { return nil }

// mergeVectors writes the file of vectors from its parts, in the form that its ending names.
func mergeVectors(_ context.Context, w *cluster.Whole, values iter.Seq2[partRows, error],
	o cluster.JoinOptions) (cluster.Result, error) {
	files, err := Files(w.Out.Path())
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(values)
	defer stop()
	first, err, _ := next()
	if err != nil {
		return nil, err
	}
	var bad []features.Bad
	err = writeFile(w.Out.Path(), first.Dim, func(to vectorfile.Writer) error {
		done := 0
		for {
			some, err, more := next()
			if err != nil {
				return err
			}
			if !more {
				return to.Close()
			}
			bad = append(bad, some.Bad...)
			if err := to.Write(some.Rows); err != nil {
				return err
			}
			done += len(some.Rows) + len(some.Bad)
			o.Progress(done, w.Total)
		}
	})
	if len(bad) > 0 {
		o.Note("%d unreadable images are left out, the first %s: %s; --json lists all of them", len(bad), bad[0].Path,
			bad[0].Reason)
	}
	return Written{Files: files, Rows: w.Total - len(bad), Dim: first.Dim, Model: first.Model,
		LeftOut: lookup.Unreadable(bad)}, err
}
