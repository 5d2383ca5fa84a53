package finder

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/run/embedding"
	"winnow/run/folder"
	"winnow/search"
)

// runBlock is the number of stored vectors that are embedded at once.
const runBlock = 4096

// OpenRun searches a run's embedding of its features. The vectors are in memory.
func OpenRun(ctx context.Context, dir string, o folder.Options) (*Finder, error) {
	o.Host = o.Host.Complete()
	r, err := folder.Open(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	rt, err := o.Host.Runtime()
	if err != nil {
		return nil, err
	}
	vectors, err := embeddedRows(ctx, r)
	if err = errors.Join(err, rt.Close()); err != nil {
		return nil, err
	}
	f := &Finder{in: search.StoreGallery(r.Store, vectors), host: o.Host}
	if f.by, f.lack = embedding.OpenRun(dir, ""); f.lack == nil {
		f.by.Precision = r.Store.Key.Precision
	}
	return f, nil
}

// embeddedRows embeds the vectors of a run's store.
func embeddedRows(ctx context.Context, r *folder.Run) (*heldVectors, error) {
	store := search.Stored{Store: r.Store}
	held := &heldVectors{x: features.NewMatrix(store.Rows, r.Head.Config().Out), absent: make([]bool, store.Rows)}
	for from := 0; from < store.Rows; from += runBlock {
		rows := make([]int, min(runBlock, store.Rows-from))
		for i := range rows {
			rows[i] = from + i
		}
		x, err := r.Store.Read(ctx, rows)
		if err != nil {
			return nil, err
		}
		present := make([]int, 0, len(rows)) // without rows of zeros, which have no embedding
		for i := range rows {
			if blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: features.Row(x, i)}) == 0 {
				held.absent[from+i] = true
				continue
			}
			present = append(present, i)
		}
		z, err := r.Head.Embed(features.Set{X: x}.Rows(present).X)
		if err != nil {
			return nil, err
		}
		search.UnitRows(z)
		for i, row := range present {
			copy(features.Row(held.x, from+row), features.Row(z, i))
		}
	}
	return held, nil
}

// heldVectors are unit vectors in memory.
type heldVectors struct {
	x      blas32.General
	absent []bool
}

// Len, Width and Block implement search.Vectors.
func (h *heldVectors) Len() int   { return h.x.Rows }
func (h *heldVectors) Width() int { return h.x.Cols }

func (h *heldVectors) Block(from, n int) (blas32.General, []bool, error) {
	x := h.x
	x.Rows, x.Data = n, x.Data[from*x.Stride:(from+n)*x.Stride]
	return x, h.absent[from : from+n], nil
}
