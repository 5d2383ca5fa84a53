package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
)

// vectorExport is what was written of the embeddings.
type vectorExport struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	View    string           `json:"view,omitempty"` // center or mean, where the store has several views of each image
	LeftOut []lookup.LeftOut `json:"left_out"`       // unreadable images
}

// idsFile is the list of what the rows of a .npy are: emb.npy has emb.ids.csv beside it.
func idsFile(npy string) string { return strings.TrimSuffix(npy, filepath.Ext(npy)) + ".ids.csv" }

// exportVectors embeds the chosen images and writes them in every form asked for.
func exportVectors(c *cli.Context, r *openedRun) (*vectorExport, error) {
	at, err := chooseSplits(r.Manifest, c.String("split"))
	if err != nil {
		return nil, err
	}
	set, left, err := embedSamples(c.Context, r, at)
	if err != nil {
		return nil, err
	}
	if set.Len() == 0 {
		return nil, fmt.Errorf("export: none of the %d images of split %s could be read, the first is %q: %s", len(at), c.String("split"), left[0].Path, left[0].Reason)
	}
	if len(left) > 0 {
		note(c, "%d unreadable images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
	}
	out := &vectorExport{Rows: set.Len(), Dim: set.Dim(), View: r.Look(), LeftOut: append([]lookup.LeftOut{}, left...)}
	rows := namedRows(r.Manifest, set)
	forms := map[string]func(io.Writer) error{
		"npy":     func(w io.Writer) error { return features.WriteNPY(w, set.X) },
		"csv":     func(w io.Writer) error { return vectorfile.WriteCSV(w, set.Dim(), rows) },
		"parquet": func(w io.Writer) error { return vectorfile.WriteParquet(w, rows) },
	}
	for _, f := range exportFiles(c) {
		write := forms[f.Flag]
		if f.Flag == "npy" && f.Path == idsFile(c.String("npy")) {
			write = func(w io.Writer) error { return writeIDs(w, rows) }
		}
		if write == nil {
			continue
		}
		if err := writeExport(f.Path, write); err != nil {
			return nil, err
		}
		out.Files = append(out.Files, f.Path)
	}
	return out, nil
}

// embeddedBlock rows are read and embedded at a time: features are larger than embeddings and need not all be
// in memory. A multiple of the head's own block, so that the products are the same as in one go.
const embeddedBlock = 8192

// embedSamples is the embeddings of the samples at these positions of the manifest, those that could be read.
func embedSamples(ctx context.Context, r *openedRun, at []int) (features.Set, []lookup.LeftOut, error) {
	rows, ids, left, err := lookup.Rows(r.Manifest, r.Store, at, "")
	if err != nil {
		return features.Set{}, nil, err
	}
	set := features.Set{X: features.NewMatrix(len(rows), r.Head.Config().Out), IDs: ids, Labels: make([]int, len(ids))}
	for i, id := range ids {
		set.Labels[i] = r.Manifest.Samples[id].Label
	}
	for from := 0; from < len(rows); from += embeddedBlock {
		n := min(embeddedBlock, len(rows)-from)
		dst := blas32.General{Rows: n, Cols: set.X.Cols, Stride: set.X.Stride, Data: set.X.Data[from*set.X.Stride:]}
		if err := embedBlock(ctx, r, dst, rows[from:from+n], ids[from:from+n]); err != nil {
			return set, left, err
		}
	}
	return set, left, nil
}

// embedBlock fills dst with the embeddings of rows of the store, which are those samples of the manifest.
func embedBlock(ctx context.Context, r *openedRun, dst blas32.General, rows, ids []int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x, err := r.Store.Read(rows)
	if err != nil {
		return err
	}
	if err := r.Head.EmbedInto(dst, x); err != nil {
		return fmt.Errorf("export: rows from %d (%s): %w", ids[0], r.Manifest.Samples[ids[0]].Path, err)
	}
	return nil
}

// namedRows views embeddings as rows with names.
func namedRows(d *datasets.Dataset, set features.Set) []vectorfile.Row {
	rows := make([]vectorfile.Row, set.Len())
	for i, id := range set.IDs {
		sample := d.Samples[id]
		rows[i] = vectorfile.Row{Path: sample.Path, Split: sample.Split, Embedding: set.Row(i)}
		if sample.Label != datasets.Unlabelled {
			rows[i].Label = d.Classes[sample.Label]
		}
	}
	return rows
}

// writeIDs writes row,path,label,split.
func writeIDs(w io.Writer, rows []vectorfile.Row) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"row", "path", "label", "split"}); err != nil {
		return err
	}
	for i, r := range rows {
		if err := out.Write([]string{strconv.Itoa(i), r.Path, r.Label, r.Split}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
