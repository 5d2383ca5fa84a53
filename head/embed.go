package head

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// embedBlock is the number of rows embedded at a time: large enough for a fast product, and small enough for the cache.
const embedBlock = 1024

// Embed maps each row of x to a unit row.
func (h *Head) Embed(x blas32.General) (blas32.General, error) {
	dst := features.NewMatrix(x.Rows, h.cfg.Out)
	return dst, h.EmbedInto(dst, x)
}

// EmbedSet returns the embeddings of the source's rows with their labels and IDs. It stops if ctx is cancelled.
func (h *Head) EmbedSet(ctx context.Context, of features.Source) (features.Set, error) {
	set := of.Bare()
	set.X = features.NewMatrix(of.Len(), h.cfg.Out)
	return set, h.embedSource(ctx, set.X, of)
}

// EmbedSpilled is like EmbedSet, but stores the embeddings as [features.Spill] does. They are read-only and valid until
// free is called.
func (h *Head) EmbedSpilled(ctx context.Context, of features.Source) (set features.Set, free func() error, err error) {
	set = of.Bare()
	var scratch []float32
	set.X, free, err = features.Spill(of.Len(), h.cfg.Out, func(from int, x blas32.General) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		in, err := of.Part(ctx, &scratch, from, x.Rows)
		if err != nil {
			return err
		}
		err = h.embedSource(ctx, x, features.Set{X: in})
		if bad, ok := errors.AsType[*NotFinite](err); ok {
			bad.Row += from
		}
		return err
	})
	return set, free, err
}

// NotFinite reports a row whose embedding has numbers that are not finite. Either the features or the weights
// are not finite, or their product overflows.
type NotFinite struct {
	Row  int
	Norm float64
}

func (e *NotFinite) Error() string {
	return fmt.Sprintf("head: row %d: the output has norm %v, expected a finite number", e.Row, e.Norm)
}

// EmbedInto overwrites dst, x.Rows×Out, with the unit embeddings of the rows of x. If the output for a row is zero, the
// embedding is zero. If the output is not finite, EmbedInto returns a [NotFinite] error.
func (h *Head) EmbedInto(dst, x blas32.General) error {
	return h.embedSource(context.Background(), dst, features.Set{X: x})
}

// embedSource is like EmbedInto, but reads the rows from a source and stops when ctx is cancelled.
func (h *Head) embedSource(ctx context.Context, dst blas32.General, of features.Source) error {
	rows := of.Len()
	if of.Dim() != h.cfg.In {
		return fmt.Errorf("head: features: found dimension %d, expected %d", of.Dim(), h.cfg.In)
	}
	if dst.Rows != rows || dst.Cols != h.cfg.Out {
		return fmt.Errorf("head: destination: found %d×%d, expected %d×%d", dst.Rows, dst.Cols, rows, h.cfg.Out)
	}
	block := min(embedBlock, rows)
	var scratch []float32
	for from := 0; from < rows; from += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(block, rows-from)
		in, err := of.Part(ctx, &scratch, from, n)
		if err != nil {
			return err
		}
		out := features.Part(dst, from, n)
		h.applyLinear(out, in)
		for i := range n {
			if norm := features.UnitRow(features.Row(out, i), features.Row(out, i)); !isFinite(norm) {
				return &NotFinite{Row: from + i, Norm: norm}
			}
		}
	}
	return nil
}

// applyLinear overwrites out with the outputs y, before normalisation, for the rows of in.
func (h *Head) applyLinear(out, in blas32.General) {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, in, h.weight.Matrix(), 0, out)
	if h.bias == nil {
		return
	}
	for i := range out.Rows {
		row := features.Row(out, i)
		for j, b := range h.bias.Data[:len(row)] {
			row[j] += b
		}
	}
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
