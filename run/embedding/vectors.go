package embedding

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/vectorfile"
	"winnow/run/folder"
)

// RunForms are the forms that [WriteRun] writes.
var RunForms = []string{"npy", "csv", "parquet"}

// RunFile is a file for the embeddings of a run. Form, one of [RunForms], need not be its ending.
type RunFile struct{ Form, Path string }

// Files returns the files that are written for it.
func (f RunFile) Files() []string { return vectorfile.Files(f.Path, f.Form) }

// RunVectors describes the embeddings written for a run, as winnow export --json prints it.
type RunVectors struct {
	Files   []string         `json:"files"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	View    string           `json:"view,omitempty"` // center or mean, if the store has several views of each image
	LeftOut []lookup.LeftOut `json:"left_out"`       // unreadable images
}

// WriteRun embeds the images of some splits and writes them to every file asked for.
func WriteRun(ctx context.Context, r *folder.Run, splits string, to []RunFile) (*RunVectors, error) {
	rows, ids, left, err := listReadableIn(r, splits)
	if err != nil {
		return nil, err
	}
	x := features.NewMatrix(len(rows), r.Head.Config().Out)
	for from := 0; from < len(rows); from += embeddedBlock {
		n := min(embeddedBlock, len(rows)-from)
		dst := blas32.General{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[from*x.Stride:]}
		if err := embedBlock(ctx, r, dst, rows[from:from+n], ids[from:from+n]); err != nil {
			return nil, err
		}
	}
	named := make([]vectorfile.Row, len(ids))
	for i, id := range ids {
		sample := r.Manifest.Samples[id]
		named[i] = vectorfile.Row{Path: sample.Path, Split: sample.Split, Embedding: features.Row(x, i)}
		if sample.Label != datasets.Unlabelled {
			named[i].Label = r.Manifest.Classes[sample.Label]
		}
	}
	out := &RunVectors{Rows: x.Rows, Dim: x.Cols, View: r.Look(), LeftOut: append([]lookup.LeftOut{}, left...)}
	put := func(path string, write func(io.Writer) error) error {
		out.Files = append(out.Files, path)
		return WriteWhole(path, write)
	}
	for _, f := range to {
		if err := vectorfile.Write(f.Path, f.Form, x.Cols, put, func(to vectorfile.Writer) error {
			return errors.Join(to.Write(named), to.Close())
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// listReadableIn returns the images of some splits that have features: their rows in the store and positions in the
// manifest. It is an error if there are none.
func listReadableIn(r *folder.Run, splits string) (rows, ids []int, left []lookup.LeftOut, err error) {
	at, err := r.Manifest.Choose(splits)
	if err != nil {
		return nil, nil, nil, err
	}
	rows, ids, left, err = lookup.Rows(r.Manifest, r.Store, at, "")
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("export: none of the %d images of split %s could be read, the first is %q: %s", len(at),
			splits,
			left[0].Path, left[0].Reason)
	}
	return rows, ids, left, err
}

// embeddedBlock is how many rows are read and embedded at a time: features are larger than embeddings and need not all
// be in memory. It is a multiple of the head's own block, so that the products equal those of one pass.
const embeddedBlock = 8192

// embedBlock fills dst with the embeddings of rows of the store. ids are their positions in the manifest.
func embedBlock(ctx context.Context, r *folder.Run, dst blas32.General, rows, ids []int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x, err := r.Store.Read(ctx, rows)
	if err != nil {
		return err
	}
	if err := r.Head.EmbedInto(dst, x); err != nil {
		return fmt.Errorf("export: rows from %d (%s): %w", ids[0], r.Manifest.Samples[ids[0]].Path, err)
	}
	return nil
}

// WriteWhole writes a file completely or not at all. Its errors name the file, not the temporary one.
func WriteWhole(path string, write func(io.Writer) error) error {
	err := atomicfile.Write(path, write)
	if err == nil {
		return nil
	}
	if inPath, ok := errors.AsType[*os.PathError](err); ok {
		err = inPath.Err
	}
	return fmt.Errorf("export: writing %s: %w", path, err)
}
