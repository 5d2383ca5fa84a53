package head

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Tail trains a head together with the network before it. The features come from the network instead of a store, and
// Backward returns their gradient for the network. Only one goroutine may use a Tail at a time.
//
//	x (n×In) → Forward → z (n×Out, unit rows)        ∂L/∂z → Backward → ∂L/∂x, and Grad of the parameters
type Tail struct {
	head  *Head
	graph *graph
	raw   bool      // rows are not normalised
	n     int       // number of rows of the last Forward; 0: no Forward since the last Backward
	norms []float64 // norms of these rows' outputs, unless raw
}

// NewTail returns a tail for batches of at most batch rows. It builds the graph once.
func NewTail(h *Head, batch int) (*Tail, error) { return newTail(h, batch, true, false) }

// NewRawTail is NewTail without the normalisation: Forward returns the outputs y of the last layer, as in
// [NewRawEncoder].
func NewRawTail(h *Head, batch int) (*Tail, error) { return newTail(h, batch, true, true) }

func newTail(h *Head, batch int, wantX, raw bool) (*Tail, error) {
	if batch < 1 {
		return nil, fmt.Errorf("head: batch: found %d rows, expected at least 1", batch)
	}
	g, err := newGraph(h, batch, wantX)
	if err != nil {
		return nil, err
	}
	return &Tail{head: h, graph: g, raw: raw, norms: make([]float64, batch)}, nil
}

// X returns the memory for the features of the next Forward: n×In, with n at most the batch of [NewTail].
func (t *Tail) X(n int) blas32.General { return features.Part(t.graph.x, 0, n) }

// Forward embeds the first n rows of X. If the output for a row is not finite, the row consists of NaN. The next
// Forward overwrites the result.
func (t *Tail) Forward(n int) (blas32.General, error) {
	t.n = 0
	if n < 1 || n > t.graph.x.Rows {
		return blas32.General{}, fmt.Errorf("head: batch: found %d rows, expected 1 to %d", n, t.graph.x.Rows)
	}
	t.graph.clearPadding(n)
	if err := t.graph.runForward(); err != nil {
		return blas32.General{}, err
	}
	t.n = n
	z := features.Part(t.graph.y, 0, n)
	for i := range n {
		if !t.raw {
			t.norms[i] = features.UnitRow(features.Row(z, i), features.Row(z, i))
		}
	}
	return z, nil
}

// Backward overwrites the gradients of the parameters, given dz = ∂L/∂z for the rows of the last Forward. It returns
// ∂L/∂x, n×In, which the next Backward overwrites. It may be called once per Forward.
func (t *Tail) Backward(dz blas32.General) (blas32.General, error) {
	if err := t.backProducts(dz); err != nil {
		return blas32.General{}, err
	}
	dx, d := t.graph.grads[len(t.graph.params)].Value(), t.head.cfg.In
	return blas32.General{Rows: dz.Rows, Cols: d, Stride: d, Data: floatsOf(dx)[:dz.Rows*d]}, nil
}

// backProducts runs the graph's backward part for the rows of the last Forward.
func (t *Tail) backProducts(dz blas32.General) error {
	n := t.n
	if t.n = 0; n == 0 || dz.Rows != n || dz.Cols != t.head.cfg.Out {
		return fmt.Errorf("head: gradient of the embeddings: found %d×%d, expected %d×%d, once for each Forward",
			dz.Rows, dz.Cols, n, t.head.cfg.Out)
	}
	for i := range n {
		dy := features.Row(t.graph.dy, i)
		if copy(dy, features.Row(dz, i)); !t.raw {
			features.UnitRowGrad(dy, features.Row(t.graph.y, i), dy, t.norms[i])
		}
	}
	return t.graph.runBackward(n)
}

// Close releases the graph.
func (t *Tail) Close() error { return t.graph.close() }
