package head

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Encoder trains a head on stored features: it looks up rows, embeds them, and computes the gradients of the head's
// parameters from ∂L/∂z. It implements train.Encoder. Only one goroutine may use it at a time.
type Encoder struct {
	tail  *Tail
	train features.Set
	z     features.Set // labels and IDs of the last Forward, with capacity for batch rows
}

// NewEncoder returns an encoder for batches of at most batch rows. It builds the graph once. It does not copy train.
func NewEncoder(h *Head, train features.Set, batch int) (*Encoder, error) {
	return newEncoder(h, train, batch, false)
}

// NewRawEncoder is NewEncoder without the normalisation: Forward returns the outputs y of the last layer
// instead of z = y/‖y‖, and Backward takes ∂loss/∂y. Use it for a head that is followed by a classifier.
func NewRawEncoder(h *Head, train features.Set, batch int) (*Encoder, error) {
	return newEncoder(h, train, batch, true)
}

func newEncoder(h *Head, train features.Set, batch int, raw bool) (*Encoder, error) {
	if train.Dim() != h.cfg.In {
		return nil, fmt.Errorf("head: training features: found dimension %d, expected %d", train.Dim(), h.cfg.In)
	}
	t, err := newTail(h, batch, false, raw)
	if err != nil {
		return nil, err
	}
	e := &Encoder{tail: t, train: train}
	if train.Labels != nil {
		e.z.Labels = make([]int, batch)
	}
	if train.IDs != nil {
		e.z.IDs = make([]int, batch)
	}
	return e, nil
}

// Params returns the parameters of the head.
func (e *Encoder) Params() []*features.Param { return e.tail.head.Params() }

// Forward embeds the listed rows of the training set: at least one and at most the batch size given to
// [NewEncoder]. If the output for a row is not finite, the row consists of NaN; the caller must check for it. The next
// Forward overwrites the result.
func (e *Encoder) Forward(rows []int) (out features.Set, err error) {
	e.tail.n = 0
	if len(rows) > e.tail.graph.x.Rows {
		return out, fmt.Errorf("head: batch: found %d rows, expected 1 to %d", len(rows), e.tail.graph.x.Rows)
	}
	for to, from := range rows {
		if from < 0 || from >= e.train.Len() {
			return out, fmt.Errorf("head: batch: found row %d, expected 0 to %d", from, e.train.Len()-1)
		}
		copy(features.Row(e.tail.graph.x, to), e.train.Row(from))
		if e.z.Labels != nil {
			e.z.Labels[to] = e.train.Labels[from]
		}
		if e.z.IDs != nil {
			e.z.IDs[to] = e.train.IDs[from]
		}
	}
	if out.X, err = e.tail.Forward(len(rows)); err != nil {
		return out, err
	}
	if e.z.Labels != nil {
		out.Labels = e.z.Labels[:len(rows)]
	}
	if e.z.IDs != nil {
		out.IDs = e.z.IDs[:len(rows)]
	}
	return out, nil
}

// Backward overwrites the gradients of the parameters, given dz = ∂loss/∂z with one row for each row of the last
// Forward. It may be called once per Forward. Afterwards the parameters' Grad is Gorgonia's own memory, to avoid a
// copy of the gradient. Read it from the Param after each Backward.
func (e *Encoder) Backward(dz blas32.General) error { return e.tail.backProducts(dz) }

// Close releases the graph.
func (e *Encoder) Close() error { return e.tail.Close() }
