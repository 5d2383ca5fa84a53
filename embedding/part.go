package embedding

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"slices"
	"strconv"

	"winnow/cluster"
	"winnow/datasets/imagelist"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

// Job names the parts of [Embedder.WritePart].
const Job = "embed"

// partRows is a batch of a part. The first has Dim and Model, the last Bad.
type partRows struct {
	Dim   int
	Model string
	Rows  []vectorfile.Row
	Bad   []features.Bad
}

// WritePart embeds a shard of the images, whole batches of them, into a part of the file out, unless it is there. The network is loaded
// only where it is not. unit divides vectors by their length.
func (e *Embedder) WritePart(ctx context.Context, h Host, out string, list *imagelist.List, o Options, s cluster.Shard, unit bool) (cluster.Made, error) {
	names := make([]string, 0, 3*len(list.Images))
	for _, n := range list.Images {
		names = append(names, n.Path, n.Label, n.Split)
	}
	header, err := cluster.NewHeader(Job, s, len(list.Images), o.Batch, "images",
		map[string]string{"model": e.Embedder.Model, "head": e.Head, "images": features.HashPaths(names)},
		map[string]string{"output": e.Output, "preprocessing": e.Preprocessing, "decoder": e.Decoder, "batch": strconv.Itoa(o.Batch), "l2": strconv.FormatBool(unit)}, h.Winnow)
	if err != nil {
		return cluster.Made{}, err
	}
	mine := *list
	mine.Images = slices.Clone(list.Images[header.First:header.End])
	return cluster.Make(ctx, out, header, func(w io.Writer) error {
		n, err := e.Load(h, 0, unit)
		if err != nil {
			return err
		}
		defer n.Close()
		to := gob.NewEncoder(w)
		if err := to.Encode(partRows{Dim: n.Dim(), Model: n.Backbone.Name}); err != nil {
			return err
		}
		rows := &imageRows{images: mine.Images, out: partWriter{to}}
		if err := n.embed(ctx, &mine, mine.Paths(), rows, o); err != nil {
			return err
		}
		return to.Encode(partRows{Bad: rows.bad})
	})
}

// partWriter is a vectorfile.Writer into a part.
type partWriter struct{ to *gob.Encoder }

func (p partWriter) Write(rows []vectorfile.Row) error {
	if len(rows) == 0 {
		return nil
	}
	return p.to.Encode(partRows{Rows: rows})
}

func (partWriter) Close() error { return nil }

// JoinParts writes the file of vectors from its parts, in the form that its ending says.
func JoinParts(_ context.Context, w *cluster.Whole, o cluster.JoinOptions) (cluster.Result, error) {
	files, err := Files(w.Out)
	if err != nil {
		return nil, err
	}
	var first partRows
	if err := w.Parts[0].Read(func(r io.Reader) error { return gob.NewDecoder(r).Decode(&first) }); err != nil {
		return nil, err
	}
	var bad []features.Bad
	err = writeFile(w.Out, first.Dim, func(to vectorfile.Writer) error {
		for i := range w.Parts {
			if err := w.Parts[i].Read(func(r io.Reader) error { return copyPart(to, r, &bad) }); err != nil {
				return err
			}
			o.Progress(w.Parts[i].End, w.Total)
		}
		return to.Close()
	})
	if len(bad) > 0 {
		o.Note("%d unreadable images are left out, the first %s: %s; --json lists all of them", len(bad), bad[0].Path, bad[0].Reason)
	}
	return Written{Files: files, Rows: w.Total - len(bad), Dim: first.Dim, Model: first.Model, LeftOut: lookup.Unreadable(bad)}, err
}

func copyPart(to vectorfile.Writer, r io.Reader, bad *[]features.Bad) error {
	for from := gob.NewDecoder(r); ; {
		var some partRows
		if err := from.Decode(&some); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		*bad = append(*bad, some.Bad...)
		if err := to.Write(some.Rows); err != nil {
			return err
		}
	}
}
