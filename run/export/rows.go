// Package export exports an opened run: its embeddings as files ([Vectors.WriteFile]) or as rows of PostgreSQL
// ([Table.Upload]), and its backbone and head as one ONNX model ([Join]).
package export

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/embedding"
	"winnow/run/folder"
)

// Forms holds the file formats that [Vectors.WriteFile] writes.
var Forms = []string{embedding.NPY, embedding.CSV, embedding.Parquet}

// Vectors holds the embeddings of a run's images, and their description as printed by winnow export --json.
type Vectors struct {
	Files   []string         `json:"files"` // written files
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	View    string           `json:"view,omitempty"` // center or mean, if the store has several views of each image
	LeftOut []lookup.LeftOut `json:"left_out"`       // unreadable images

	List []embedding.Row `json:"-"`
}

// embeddedBlock is the number of rows read and embedded at a time, because features are larger than embeddings and may
// not fit in memory. It is a multiple of the head's block, so that the embeddings equal those of one pass to the bit.
const embeddedBlock = 8192

// Embed embeds the images of some splits of a run, in the order of its manifest.
func Embed(ctx context.Context, r *folder.Run, splits string) (*Vectors, error) {
	at, err := r.Manifest.Choose(splits)
	if err != nil {
		return nil, err
	}
	rows, ids, left, err := lookup.Rows(r.Manifest, r.Store, at, "")
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("export: none of the %d images of split %s could be read, the first is %q: %s", len(at),
			splits, left[0].Path, left[0].Reason)
	}
	if err != nil {
		return nil, err
	}
	v := &Vectors{
		Rows:    len(rows),
		Dim:     r.Head.Config().Out,
		View:    r.Look(),
		LeftOut: append([]lookup.LeftOut{}, left...),
	}
	all := features.NewMatrix(v.Rows, v.Dim)
	for from := 0; from < v.Rows; from += embeddedBlock {
		n := min(embeddedBlock, v.Rows-from)
		x, err := r.Store.Read(ctx, rows[from:from+n])
		if err != nil {
			return nil, err
		}
		part := blas32.General{Rows: n, Cols: v.Dim, Stride: v.Dim, Data: all.Data[from*v.Dim:]}
		if err := r.Head.EmbedInto(part, x); err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
	}
	for i, id := range ids {
		sample := r.Manifest.Samples[id]
		row := embedding.Row{Path: sample.Path, Split: sample.Split, Embedding: features.Row(all, i)}
		if sample.Label != datasets.Unlabelled {
			row.Label = r.Manifest.Classes[sample.Label]
		}
		v.List = append(v.List, row)
	}
	return v, nil
}

// WriteFile writes the vectors to the file out in a format of [Forms].
func (v *Vectors) WriteFile(form, out string) error {
	err := embedding.WriteRows(form, out, v.Dim, func(put func([]embedding.Row) error) error { return put(v.List) })
	if err != nil {
		return fmt.Errorf("export: writing %s: %w", out, err)
	}
	if v.Files = append(v.Files, out); form == embedding.NPY {
		v.Files = append(v.Files, embedding.ListOfNPY(out))
	}
	return nil
}
