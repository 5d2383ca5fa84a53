package run

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/train"
)

// viewed shows an encoder one of several views of each row, drawn at each visit: row r of the training set is row
// v·n + r of the encoder, n being the rows of the set and v the view, from 0 on, each as likely. A row named twice in
// a batch is drawn twice; where batches show several views of a row (Apart), they are different ones while there are others.
//
// What is drawn is a function of Source and of the place in the batch alone, so that a run that goes on draws what the
// run never stopped would have drawn, if Source is a function of seed and step.
type viewed struct {
	Encoder train.Encoder
	Rows    int               // n
	Views   int               // at least 1
	Source  func() *rand.Rand // the random numbers of one Forward
	Apart   bool              // a row that a batch names several times is shown in different views

	drawn []int
}

// Forward embeds a view of each row.
func (e *viewed) Forward(rows []int) (features.Set, error) {
	rng := e.Source()
	e.drawn = e.drawn[:0]
	shown := map[int][]int{} // views of each row
	for _, row := range rows {
		view := rng.IntN(e.Views)
		if e.Apart {
			before := shown[row]
			round := before[len(before)/e.Views*e.Views:] // all views once before any comes again
			for slices.Contains(round, view) {
				view = rng.IntN(e.Views)
			}
			shown[row] = append(before, view)
		}
		e.drawn = append(e.drawn, view*e.Rows+row)
	}
	return e.Encoder.Forward(e.drawn)
}

// Backward is the encoder's.
func (e *viewed) Backward(dz blas32.General) error { return e.Encoder.Backward(dz) }

// Params returns the encoder's.
func (e *viewed) Params() []*features.Param { return e.Encoder.Params() }

// State returns the encoder's, if it has one.
func (e *viewed) State() []*features.Param {
	if s, ok := e.Encoder.(train.Stateful); ok {
		return s.State()
	}
	return nil
}
